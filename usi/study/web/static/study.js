// The page of a talk. htmx sends the form and receives the events; this file keeps what is being
// typed, gives each message an identity, drops what is already shown, and says when the server
// can't be reached. Nothing here is needed to read the talk or to send a message.
"use strict";

(() => {
  const chat = document.getElementById("chat");
  if (!chat) return;
  const log = document.getElementById("log");
  const form = document.getElementById("composer");
  const box = form.elements.text;
  const send = document.getElementById("send");
  const status = document.getElementById("status");
  const notice = document.getElementById("notice");
  const key = `usi-talk-${chat.dataset.talk}`;
  let typing = null;
  let sending = null;
  let retry = 0;
  let leaving = false;
  let streaming = false; // events come, so nothing has to be asked for

  const identity = () =>
    crypto.randomUUID ? crypto.randomUUID() : `${Date.now()}-${Math.random().toString(36).slice(2)}`;

  const tell = (text) => {
    notice.textContent = text;
    notice.hidden = text === "";
  };

  // What is typed survives a reload and a lost connection; so does the identity of a message that
  // was sent without an answer, so that sending it again stores it once.
  const keep = () => {
    try {
      sessionStorage.setItem(key, JSON.stringify({ text: box.value, client: form.elements.client.value }));
    } catch (error) {
      return;
    }
  };
  const forget = () => {
    try {
      sessionStorage.removeItem(key);
    } catch (error) {
      return;
    }
  };
  const restore = () => {
    let kept = null;
    try {
      kept = JSON.parse(sessionStorage.getItem(key) ?? "null");
    } catch (error) {
      return;
    }
    if (!kept || box.value) return;
    if (log.querySelector(`[data-client="${CSS.escape(kept.client)}"]`)) {
      forget();
      return;
    }
    box.value = kept.text;
    form.elements.client.value = kept.client;
  };

  const last = () => log.lastElementChild?.dataset.seq ?? chat.dataset.after;
  const down = () => {
    log.scrollTop = log.scrollHeight;
    form.elements.after.value = last();
  };

  // Where the end of the talk was in sight it stays so, also when a keyboard takes half the screen.
  let atEnd = true;
  log.addEventListener("scroll", () => {
    atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  });
  new ResizeObserver(() => {
    if (atEnd) log.scrollTop = log.scrollHeight;
  }).observe(log);

  // Lines that are already shown (by an event, by the answer to the form) are dropped.
  const fresh = (html) => {
    const made = document.createElement("template");
    made.innerHTML = html;
    for (const item of [...made.content.children]) {
      if (item.id && document.getElementById(item.id)) item.remove();
    }
    return [...made.content.children].map((item) => item.outerHTML).join("\n");
  };

  const state = () => {
    const now = status.querySelector("[data-state]")?.dataset.state ?? "yours";
    send.disabled = now !== "yours" || sending !== null;
    chat.dataset.state = now;
    if (now === "over" && !leaving) {
      leaving = true;
      location.reload();
    }
  };

  const reset = () => {
    box.value = "";
    form.elements.client.value = identity();
    for (const name of ["pastes", "pasted_characters", "hidden"]) form.elements[name].value = "0";
    form.elements.typing_ms.value = "";
    typing = null;
    forget();
    grow();
  };

  const count = (name, more) => {
    form.elements[name].value = String(Number(form.elements[name].value) + more);
  };

  const grow = () => {
    box.rows = Math.min(6, Math.max(2, box.value.split("\n").length));
  };

  box.addEventListener("input", () => {
    typing ??= performance.now();
    grow();
    keep();
  });
  box.addEventListener("paste", (event) => {
    count("pastes", 1);
    count("pasted_characters", event.clipboardData?.getData("text").length ?? 0);
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") count("hidden", 1);
  });
  box.addEventListener("keydown", (event) => {
    // Enter inside an input method chooses a word and must not send.
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229) {
      event.preventDefault();
      if (!send.disabled) form.requestSubmit();
    }
  });

  document.body.addEventListener("htmx:configRequest", (event) => {
    if (event.detail.elt !== form) return;
    if (typing !== null) {
      event.detail.parameters.typing_ms = String(Math.round(performance.now() - typing));
    }
  });
  document.body.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.elt !== form) return;
    if (box.value.trim() === "" || chat.dataset.state === "writing") {
      event.preventDefault();
      return;
    }
    sending = box.value;
    keep();
    box.readOnly = true;
    state();
  });
  document.body.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.target === log) event.detail.serverResponse = fresh(event.detail.serverResponse);
  });
  document.body.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.elt !== form) return;
    const code = event.detail.xhr?.status ?? 0;
    const sent = sending;
    sending = null;
    box.readOnly = false;
    if (code >= 200 && code < 300) {
      retry = 0;
      tell("");
      if (box.value === sent) reset();
      // Where the answer was faster than this, its event has set the state already.
      const waits = log.lastElementChild?.classList.contains("mine");
      if (waits && !status.querySelector('[data-state="writing"]')) {
        status.replaceChildren(status.ownerDocument.createRange().createContextualFragment(
          '<span data-state="writing"></span>'));
      }
      if (!streaming) refresh();
      box.focus();
    } else if (code >= 400 && code < 500) {
      tell(event.detail.xhr.responseText.slice(0, 400));
      refresh();
    } else {
      // The same identity is sent again, so nothing is stored twice.
      tell(chat.dataset.lost);
      retry = Math.min(retry + 1, 6);
      setTimeout(() => sending === null && box.value === sent && form.requestSubmit(), 1000 * retry);
    }
    state();
  });
  document.body.addEventListener("htmx:sseBeforeMessage", (event) => {
    if (event.detail.elt !== log && event.target !== log) return;
    const html = fresh(event.detail.data ?? "");
    if (html === "") event.preventDefault();
  });
  document.body.addEventListener("htmx:afterSwap", (event) => {
    if (event.target === log) down();
    if (event.target === status) state();
  });
  document.body.addEventListener("htmx:sseMessage", () => {
    down();
    state();
  });
  document.body.addEventListener("htmx:sseOpen", () => {
    streaming = true;
    if (notice.textContent === chat.dataset.lost) tell("");
  });
  document.body.addEventListener("htmx:sseError", () => {
    streaming = false;
    tell(chat.dataset.lost);
  });

  // Asked now and then, in case a proxy holds events back.
  const refresh = async () => {
    try {
      const answer = await fetch(`${chat.dataset.messages}?after=${last()}`, { cache: "no-store" });
      if (!answer.ok) return;
      const html = fresh(await answer.text());
      if (html) {
        log.insertAdjacentHTML("beforeend", html);
        down();
      }
      const now = answer.headers.get("X-Talk-State");
      if (now && now !== status.querySelector("[data-state]")?.dataset.state) {
        const words = await fetch(`${chat.dataset.messages}?state=1`, { cache: "no-store" });
        if (words.ok) status.innerHTML = await words.text();
      }
      state();
      if (notice.textContent === chat.dataset.lost && sending === null) tell("");
    } catch (error) {
      tell(chat.dataset.lost);
    }
  };
  setInterval(refresh, 15000);
  addEventListener("online", refresh);
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });

  for (const kind of ["copy", "cut", "dragstart"]) {
    document.querySelector(".situation").addEventListener(kind, (event) => event.preventDefault());
  }
  document.addEventListener("submit", (event) => {
    leaving = leaving || event.target !== form;
  });
  document.getElementById("end-no").addEventListener("click", () => {
    document.getElementById("end").open = false;
    box.focus();
  });

  form.elements.client.value = identity();
  restore();
  grow();
  down();
  state();
})();
