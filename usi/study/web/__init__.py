"""The site: pages, forms and event streams over the functions of `usi.study`."""
