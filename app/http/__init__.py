"""The HTTP backend: FastAPI over an opened `app.wiring.App`; `app.http.api.create_api` makes it."""
