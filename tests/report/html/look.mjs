// Opens a page in an installed Chromium and says what happened, as JSON on stdout.
// stdin: {"page": URL, "browser": path, "width": 1280, "height": 900, "scheme": "light",
//   "axe": false, "shot": path or null, "script": text or null, "clip": selector
//   that the shot begins with, "top": so many pixels further down, "media": "print" or null}
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const job = JSON.parse(readFileSync(0, "utf8"));
const browser = await chromium.launch({
  executablePath: job.browser,
  args: ["--no-sandbox", "--disable-quic", "--no-first-run"],
});
const context = await browser.newContext({
  viewport: { width: job.width ?? 1280, height: job.height ?? 900 },
  colorScheme: job.scheme ?? "light",
  offline: true,
  reducedMotion: "reduce",
});
const page = await context.newPage();
page.setDefaultTimeout(120000);
const seen = { console: [], requests: [] };
page.on("console", (line) => seen.console.push(`${line.type()}: ${line.text()}`));
page.on("pageerror", (error) => seen.console.push(`error: ${error.message}`));
page.on("request", (request) => seen.requests.push(request.url()));
const began = Date.now();
await page.goto(job.page, { waitUntil: "load" });
seen.milliseconds = Date.now() - began;
if (job.media) {
  await page.evaluate("dispatchEvent(new Event('beforeprint'))");
  await page.emulateMedia({ media: job.media });
}
seen.inner = await page.evaluate("innerWidth");
seen.scroll = await page.evaluate("document.documentElement.scrollWidth");
if (job.script) seen.result = await page.evaluate(job.script);
if (job.axe) {
  const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  await page.evaluate(source);
  const found = await page.evaluate(
    "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']})",
  );
  seen.violations = found.violations.map((item) => ({
    id: item.id,
    impact: item.impact,
    help: item.help,
    nodes: item.nodes.slice(0, 5).map((node) => node.html.slice(0, 200)),
    count: item.nodes.length,
    why: item.nodes.slice(0, 3).map((node) => (node.failureSummary ?? "").slice(0, 300)),
  }));
  seen.rules = found.passes.length;
}
if (job.shot) {
  if (job.clip) {
    // Scrolled to, not cut from the whole page: pages are tens of thousands of pixels high.
    await page.evaluate(([selector, top]) => {
      const box = document.querySelector(selector).getBoundingClientRect();
      scrollTo(0, box.y + scrollY + top);
    }, [job.clip, job.top ?? 0]);
  }
  await page.screenshot({ path: job.shot, timeout: 120000 });
}
await browser.close();
process.stdout.write(JSON.stringify(seen));
