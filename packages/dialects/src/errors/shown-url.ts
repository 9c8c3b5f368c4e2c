const query = /[?#].*$/s

/**
 * An address as a message may show it: without user, password, query and fragment, each of which may be a secret. User and password end at
 * the last `@`, because one that is not encoded may contain any character.
 *
 * @example shownUrl('https://me:secret@mirror.example/api.json?token=secret') // 'https://…@mirror.example/api.json?…'
 */
export function shownUrl(address: string): string {
  const beforeQuery = URL.canParse(address) ? address.replace(query, '?…') : address
  return beforeQuery.replace(/^(.*?\/\/)?.*@/s, '$1…@').replace(query, '?…')
}
