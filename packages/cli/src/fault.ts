/** Why the server cannot start, as one line for the operator. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

/** Fields whose value is never shown, not even in the message that it is invalid. */
const secrets = /(?:^|\.)(?:api_key|admin_key|sealing_key|access_key_id|secret_access_key|session_token|token)(?:\[\d+\])?$|_KEY$/

/** The error of a field: its name, its value and what it takes. `invalidField('port', 99999, 'a whole number from 0 to 65535')` */
export const invalidField = (field: string, got: unknown, takes: string): StartError =>
  new StartError(`\`${field}\` is ${shown(got, field)}; it takes ${takes}.`)

/** Formats a value for a message. Secrets and long texts are not quoted. */
export function shown(value: unknown, field: string): string {
  if (value === undefined) return 'missing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value !== 'string') return String(value)
  if (secrets.test(field)) return `a string of ${value.length} characters`
  const harmless = withoutPassword(value)
  return JSON.stringify(harmless.length > 80 ? `${harmless.slice(0, 80)}…` : harmless)
}

/**
 * A URL without the secrets it may contain: in the query, and before the host. The user and the password end at the last `@`: in a password
 * that was not encoded there may be an `@`, `/` or `?`, with which the URL may not even parse. A SQLite file has neither.
 */
export const withoutPassword = (address: string): string =>
  address.replace(/([?&](?:password|authToken|sslpassword)=)[^&]*/gi, '$1…').replace(/(\/\/|^(?!sqlite:)[a-z\d+.-]*:(?!\/\/)).*@/is, '$1…@')
