"""Parts of the page, one module each: what its template needs, chosen and ordered."""
