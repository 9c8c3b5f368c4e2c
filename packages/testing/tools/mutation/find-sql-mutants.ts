interface SqlVariant {
  readonly operator: string
  readonly mutated: string
  /** Where in the text. */
  readonly at: number
}

const isSql = /\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WHERE|LANGUAGE)\b/

/** What to look for between words of SQL, and what takes its place. */
const swaps: readonly (readonly [pattern: RegExp, other: string])[] = [
  [/(?<= )<(?= )/g, '<='],
  [/(?<= )<=(?= )/g, '<'],
  [/(?<= )>(?= )/g, '>='],
  [/(?<= )>=(?= )/g, '>'],
  [/(?<=\b(?:WHERE|AND|ON) \S+ )=(?= )/g, '<>'],
  [/(?<= )\+(?= )/g, '-'],
  [/(?<= )-(?= )/g, '+'],
  [/(?<= )AND(?= )/g, 'OR'],
  [/(?<= )OR(?= (?!FAIL|REPLACE|IGNORE))/g, 'AND'],
  [/\bmin(?=\()/g, 'max'],
  [/\bmax(?=\()/g, 'min'],
  [/\bDESC\b/g, 'ASC'],
]

/** The mutants of a string or template in quotes, if it holds SQL. What is inside of `${}` and comments is left as it is. */
export function sqlVariants(text: string): readonly SqlVariant[] {
  if (!isSql.test(text)) return []
  const visible = text.replaceAll(/\$\{[^}]*\}|-- .*$/gm, hidden => '·'.repeat(hidden.length))
  return swaps.flatMap(([pattern, other]) =>
    [...visible.matchAll(pattern)].map(({ 0: found, index: at }) => ({
      operator: `SQL ${found} to ${other}`,
      mutated: `${text.slice(0, at)}${other}${text.slice(at + found.length)}`,
      at,
    })),
  )
}
