const maxLength = 500

/** Patterns of secrets in provider messages. Repetitions are bounded, because the text is untrusted. */
const secrets: readonly (readonly [RegExp, string])[] = [
  [/\b(?:sk|pk|rk|ak|gsk|xai|pplx|hf|nvapi|fw|key|tgp|csk)[-_][\w\-*.]{6,2000}/gi, '[redacted]'],
  [/\bBearer\s{1,8}[^\s"',;]{1,2000}/gi, 'Bearer [redacted]'],
  [/\beyJ[\w-]{4,2000}\.[\w-]{4,2000}(?:\.[\w-]{0,2000})?/g, '[redacted]'],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{12,32}/g, '[redacted]'],
  [/\bAIza[\w-]{20,60}/g, '[redacted]'],
  [/\bya29\.[\w.-]{20,2000}/g, '[redacted]'],
  [/\b((?:api[-_]?|access[-_]?)?(?:key|token|secret|signature|password|sig)=)[^&\s"']{1,2000}/gi, '$1[redacted]'],
]

/** Provider text that may be shown to a client: no secrets, no control characters, at most 500 characters. */
export function redact(text: string): string {
  const clean = secrets.reduce((kept, [pattern, put]) => kept.replace(pattern, put), withoutControls(text.slice(0, 4 * maxLength)))
  return clean.length <= maxLength ? clean : `${clean.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are removed here
const withoutControls = (text: string): string => text.replace(/[\u0000-\u001F\u007F-\u009F\u2028\u2029]+/g, ' ').trim()
