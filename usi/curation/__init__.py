"""Human corpora as session tables: counted, verified, split, judged, added up."""
