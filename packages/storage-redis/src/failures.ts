import { EphemeralError, type EphemeralFailure } from '@signalbox/storage/compose'

/** What an error of Redis means, by how its message begins. */
interface RefusalRow {
  readonly code: RegExp
  readonly failure: EphemeralFailure
  readonly wayOut: string
  /** Whether another server may answer under the same address: the connection is made anew. */
  readonly reconnect?: true
}

/** The first row that fits counts. Errors that are in no row are those of the connection. */
const refusalRows: readonly RefusalRow[] = [
  { code: /READONLY/, failure: 'refusing', wayOut: 'The server is a replica: reconnecting to find the primary.', reconnect: true },
  { code: /MASTERDOWN|UNBLOCKED|NOREPLICAS/, failure: 'refusing', wayOut: 'Wait for the failover to end.', reconnect: true },
  { code: /\bOOM\b/, failure: 'refusing', wayOut: 'Raise `maxmemory`.' },
  { code: /LOADING|BUSY|TRYAGAIN|CLUSTERDOWN|redirections/, failure: 'refusing', wayOut: 'Will retry.' },
  { code: /MISCONF/, failure: 'refusing', wayOut: 'Redis cannot write its snapshot: free disk space on its server.' },
  {
    code: /NOAUTH|WRONGPASS|NOPERM|invalid password/i,
    failure: 'refusing',
    wayOut: 'Check user and password, and that the user may run scripts.',
  },
  { code: /WRONGTYPE/, failure: 'damaged', wayOut: 'Another program writes under the same prefix: use a different prefix for each.' },
  { code: /user_script|Script|CROSSSLOT/, failure: 'damaged', wayOut: 'Redis 7 or later is needed.' },
]
const connectionRow: RefusalRow = {
  code: /^/,
  failure: 'unreachable',
  wayOut: 'Check that it runs and that its address is right.',
}

/** An error of Redis, with what follows from it. */
interface RedisFailure {
  readonly error: EphemeralError
  readonly reconnect: boolean
}

/**
 * The meaning of an error. Of the error itself only its message is kept, without secrets: an error of ioredis has the whole command
 * beside it, and that of AUTH is the password.
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
  // Of several addresses of one name: the error has no message of its own.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(errorText).join(', ')
  return error.message || error.name
}
