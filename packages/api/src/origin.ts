/** The host of an origin, as in `app.example:8080`. Undefined: it is no URL. */
export const hostOf = (origin: string): string | undefined => (URL.canParse(origin) ? new URL(origin).host : undefined)
