/** The part of a `data:` URL before the data. */
export interface DataUrl {
  /** Media type in lower case, without parameters; empty if absent. */
  readonly type: string
  readonly isBase64: boolean
  /** Index of the first character of the data, which is not decoded because it may be megabytes. */
  readonly dataAt: number
}

/** Longer than any media type with parameters. */
const maxHead = 300

/** Parses a data URL; undefined for any other URL, or one without data. */
export function parseDataUrl(url: string): DataUrl | undefined {
  const comma = url.slice(0, maxHead).indexOf(',')
  if (!url.startsWith('data:') || comma === -1) return undefined
  const head = url.slice('data:'.length, comma)
  const [type = ''] = head.split(';')
  return { type: type.trim().toLowerCase(), isBase64: /;\s*base64\s*$/i.test(head), dataAt: comma + 1 }
}
