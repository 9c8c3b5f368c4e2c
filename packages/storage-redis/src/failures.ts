import { EphemeralError, type EphemeralFailure } from '@signalbox/storage/compose'

/** The meaning of a Redis error, by the start of its message. */
interface RefusalRow {
  readonly code: RegExp
  readonly failure: EphemeralFailure
  readonly wayOut: string
  /** Whether to reconnect because another server may respond at the same address. */
  readonly reconnect?: true
}

/** The first matching row applies. Errors without a row are connection errors. */
const refusalRows: readonly RefusalRow[] = [
  { code: /READONLY/, failure: 'refusing', wayOut: 'The server is a replica: reconnecting to find the primary.', reconnect: true },
  { code: /MASTERDOWN|UNBLOCKED|NOREPLICAS/, failure: 'refusing', wayOut: 'Wait for the failover to end.', reconnect: true },
  { code: /\bOOM\b/, failure: 'refusing', wayOut: 'Raise `maxmemory`.' },
  { code: /LOADING|BUSY|TRYAGAIN|CLUSTERDOWN|redirections/, failure: 'refusing', wayOut: 'Will retry.' },
  { code: /MISCONF/, failure: 'refusing', wayOut: 'Redis cannot write its snapshot: free disk space on its server.' },
  {
    code: /NOAUTH/,
    failure: 'refusing',
    wayOut:
      'The server wants a password: write it into the address, as in `redis://USER:PASSWORD@HOST:6379` (`redis://:PASSWORD@…` without a user).',
  },
  { code: /WRONGPASS|invalid password/i, failure: 'refusing', wayOut: 'Check user and password in the address.' },
  {
    code: /NOPERM/,
    failure: 'refusing',
    wayOut: 'Let the user run scripts on its keys and channels: `ACL SETUSER … +@all ~signalbox:* &signalbox:*`, with your `prefix`.',
  },
  { code: /DENIED.*protected mode/, failure: 'refusing', wayOut: 'Set a password on the server, or let it listen on this network only.' },
  {
    code: /wrong version number|packet length too long/i,
    failure: 'unreachable',
    wayOut: 'The server does not take TLS: begin the address with `redis://`, not with `rediss://`.',
  },
  {
    code: /self[- ]signed certificate|unable to (?:verify|get)/i,
    failure: 'unreachable',
    wayOut: 'Name the file of its certificate authority in the variable NODE_EXTRA_CA_CERTS.',
  },
  { code: /WRONGTYPE/, failure: 'damaged', wayOut: 'Another program writes under the same prefix: use a different prefix for each.' },
  { code: /user_script|Script|CROSSSLOT/, failure: 'damaged', wayOut: 'Redis 7 or later is needed.' },
]
const connectionRow: RefusalRow = {
  code: /^/,
  failure: 'unreachable',
  wayOut: 'Check that it runs and that its address is right.',
}

/** A Redis error and its consequences. */
interface RedisFailure {
  readonly error: EphemeralError
  readonly reconnect: boolean
}

/**
 * The meaning of an error. Only its message is kept, without secrets, because an ioredis error also contains the whole command, which for
 * AUTH includes the password.
 *
 * @example
 * failureOf(error, { name: 'localhost:6379', secrets: ['pa$$'] }).error.message
 */
export function failureOf(error: unknown, { name, secrets }: { readonly name: string; readonly secrets: readonly string[] }): RedisFailure {
  const message = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), errorText(error))
  const row = refusalRows.find(({ code }) => code.test(message)) ?? connectionRow
  return {
    error: new EphemeralError(row.failure, `Redis at ${name}: ${message.replace(/\.$/, '')}. ${row.wayOut}`),
    reconnect: row.reconnect === true,
  }
}

const errorText = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  // Several addresses of one name failed; the error itself has no message.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(errorText).join(', ')
  return error.message || error.name
}
