"""Human corpora and recorded candidates: manifest, files, parts, redaction and downloads."""
