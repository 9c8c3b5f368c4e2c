/** A message of the server, a pooler or `pg` that a setting mends, and the setting. */
interface AdviceRow {
  readonly message: RegExp
  readonly advice: string
}

const behindPooler = 'A pooler that gives each transaction another connection, such as PgBouncer, is in between: set `prepare: false`.'

/** The first matching row applies. */
const adviceRows: readonly AdviceRow[] = [
  // PgBouncer: https://www.pgbouncer.org/config.html, `ignore_startup_parameters`
  { message: /unsupported startup parameter/, advice: behindPooler },
  { message: /prepared statement .* (?:does not exist|already exists)/, advice: behindPooler },
  {
    message: /no pg_hba\.conf entry.*(?:no encryption|SSL off)|SSL(?: connection)? is required|server requires (?:SSL|TLS)/i,
    advice: 'The server takes connections with TLS only: end the connection string with `?sslmode=require`.',
  },
  { message: /no pg_hba\.conf entry/, advice: 'Let this user and host in, in `pg_hba.conf` of the server.' },
  {
    message: /does not support SSL/,
    advice: 'Leave `sslmode` out of the connection string, or switch `ssl` on in the server.',
  },
  {
    message: /self[- ]signed certificate|unable to (?:verify|get)|certificate has expired/i,
    advice: 'Name the file of the certificate authority in the connection string: `?sslmode=verify-full&sslrootcert=FILE`.',
  },
  {
    message: /password authentication failed|password must be a (?:non-empty )?string|no password supplied|role ".*" does not exist/,
    advice:
      'Check user and password in the connection string; what is not a letter or digit of a password is written as in a URL (`%40` for `@`).',
  },
  {
    message: /database ".*" does not exist|no such database/,
    advice: 'Create the database, or name another one at the end of the connection string.',
  },
  {
    message: /permission denied for database/,
    advice: 'Let its owner run CREATE SCHEMA … AUTHORIZATION for this role, and name that schema as `schema`.',
  },
  {
    message: /permission denied for schema/,
    advice: 'Let its owner run GRANT USAGE, CREATE ON SCHEMA … TO this role; USAGE alone is enough with `migrate: false`.',
  },
  {
    message: /must be owner of|permission denied for (?:table|sequence|function)/,
    advice: 'Let the owner of the tables migrate (`signalbox migrate`) and grant this role their rows, and set `migrate: false`.',
  },
]

/**
 * The setting that mends an error of a connection or of its first statements; undefined if none is known.
 *
 * @example
 * adviceFor(new Error('unsupported startup parameter: statement_timeout')) // '… set `prepare: false`.'
 */
export function adviceFor(error: unknown): string | undefined {
  for (let each = error, depth = 0; each instanceof Error && depth < 4; each = each.cause, depth++) {
    const { message } = each
    const row = adviceRows.find(candidate => candidate.message.test(message))
    if (row) return row.advice
  }
  return undefined
}
