/** Milliseconds of a day. */
export const dayMs = 86_400_000

/** Whether a text is an ISO 8601 time in UTC on an existing day: `2030-01-31T12:00:00Z`. */
export function isUtcTime(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z$/.test(text)) return false
  const at = Date.parse(text)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text.slice(0, 10))
}
