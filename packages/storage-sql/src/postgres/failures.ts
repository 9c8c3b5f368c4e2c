import { errorMessage, NotSentError, sqlStateOf, UnresponsiveServerError } from './client.ts'
import { adviceFor } from './start-advice.ts'

// Decides in one place what a PostgreSQL error says about its statement, and what each method does then.

/** The error of an unusable schema: missing, outdated, or created by a newer version. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError'
}

/**
 * What a failure says about the statement. `notSent` and `rolledBack`: it changed nothing and may be retried. `lost`: the connection ended
 * before the response, so it may have been executed. `late`: it took too long and was cancelled. `silent`: the server has not responded for
 * a while, so it may have been executed. `refused`: a retry would fail again.
 */
export type FailureKind = 'notSent' | 'rolledBack' | 'lost' | 'late' | 'silent' | 'refused'

/** Server errors after which the same statement may succeed. All others are `refused`. */
const kindsByState: Readonly<Record<string, FailureKind>> = {
  /** serialization_failure */
  '40001': 'rolledBack',
  /** deadlock_detected */
  '40P01': 'rolledBack',
  /** admin_shutdown: the session was ended before its transaction was committed. */
  '57P01': 'rolledBack',
  /** crash_shutdown: another session crashed, and the server ended all. */
  '57P02': 'lost',
  /** cannot_connect_now: the server starts or shuts down. */
  '57P03': 'notSent',
  /** too_many_connections */
  '53300': 'notSent',
  /** query_canceled: by `statement_timeout`. */
  '57014': 'late',
  /** read_only_sql_transaction: the server became a replica. */
  '25006': 'rolledBack',
  /** lock_not_available */
  '55P03': 'late',
}

/** What an error says about the statement that failed with it. */
export function kindOfFailure(error: unknown): FailureKind {
  const state = sqlStateOf(error)
  if (state !== undefined) return Object.hasOwn(kindsByState, state) ? (kindsByState[state] ?? 'refused') : 'refused'
  if (error instanceof NotSentError) {
    const cause = sqlStateOf(error.cause)
    // A wrong password or a missing database does not fix itself.
    return cause !== undefined && !Object.hasOwn(kindsByState, cause) ? 'refused' : 'notSent'
  }
  if (error instanceof UnresponsiveServerError) return 'silent'
  return error instanceof RangeError || error instanceof SchemaError ? 'refused' : 'lost'
}

/** What a method does when its statement fails. */
interface FailureRow {
  /**
   * If the response was lost. `again`: retried, because executing it twice has the effect of once. `fail`: it would be counted twice, so it
   * fails with an error that the outcome is unknown.
   */
  readonly lost: 'again' | 'fail'
  /**
   * While the server is silent. `fail`: a request waits for it and is refused. `wait`: nothing is refused because of it, and its write
   * should not be lost, so it waits for its timeout.
   */
  readonly silence: 'fail' | 'wait'
  /** Whether no request waits for it, so that it may use only a part of the connections. */
  readonly isReport?: true
}

const failureRows = {
  /** Idempotent by id. */
  'ledger.reserve': { lost: 'again', silence: 'fail' },
  /** Idempotent by id, except that a second time counts the request twice. */
  admit: { lost: 'again', silence: 'fail' },
  'ledger.settle': { lost: 'again', silence: 'wait' },
  'ledger.credit': { lost: 'again', silence: 'wait' },
  settle: { lost: 'again', silence: 'wait' },
  'usage.append': { lost: 'again', silence: 'wait' },
  /** A version that was raised twice was raised. */
  'ledger.renew': { lost: 'again', silence: 'wait' },
  /** Would set the amount aside twice. The request is already running. */
  'ledger.extend': { lost: 'fail', silence: 'wait' },
  /** Would count twice. */
  'counters.take': { lost: 'fail', silence: 'fail' },
  'counters.add': { lost: 'fail', silence: 'wait' },
  /** The same slot twice is one slot. */
  'counters.enter': { lost: 'again', silence: 'fail' },
  'counters.leave': { lost: 'again', silence: 'wait' },
  /** A retry would conflict with itself. */
  'records.commit': { lost: 'fail', silence: 'fail' },
  /** The latest use wins. */
  'records.touch': { lost: 'again', silence: 'wait' },
  /** Removed rows stay removed; the returned number is that of the retry. */
  'records.expire': { lost: 'again', silence: 'wait' },
  'usage.forget': { lost: 'again', silence: 'wait', isReport: true },
  'ledger.forget': { lost: 'again', silence: 'wait', isReport: true },
  /** An id that is stored twice becomes ambiguous. */
  'items.put': { lost: 'fail', silence: 'wait' },
  'items.renew': { lost: 'again', silence: 'wait' },
  /** Routing state can be merged. */
  'routing.publish': { lost: 'again', silence: 'wait' },
  'routing.pause': { lost: 'again', silence: 'wait' },
  'routing.remember': { lost: 'again', silence: 'wait' },
  /** A mark that was already moved does not move again. */
  'usage.totals': { lost: 'again', silence: 'wait', isReport: true },
  'usage.partition': { lost: 'again', silence: 'wait' },
  sweep: { lost: 'again', silence: 'wait', isReport: true },
  read: { lost: 'again', silence: 'fail' },
  /** Reads for people, which may be slow: analytics, the request log, the audit log. */
  report: { lost: 'again', silence: 'fail', isReport: true },
} as const satisfies Readonly<Record<string, FailureRow>>

/** A storage method, as named in errors and in the table above. */
export type PostgresVerb = keyof typeof failureRows

/** Whether a method is retried after this kind of failure. */
export const isSentAgain = (verb: PostgresVerb, kind: FailureKind): boolean =>
  kind === 'notSent' || kind === 'rolledBack' || (kind === 'lost' && failureRows[verb].lost === 'again')

/** Whether a method fails while the server is silent. */
export const failsInSilence = (verb: PostgresVerb): boolean => failureRows[verb].silence === 'fail'

/** Whether a method may use only a part of the connections. */
export const isReport = (verb: PostgresVerb): boolean => (failureRows[verb] as FailureRow).isReport === true

/**
 * SQLSTATE classes of errors that a single call of a batch may cause: cardinality, data, constraints, serialization, size limits, raised.
 * Other errors concern the server, the schema or the connection, so sending part of the batch would not help.
 */
const classesOfOneCall: ReadonlySet<string> = new Set(['21', '22', '23', '40', '54', 'P0'])

/** Whether an error of a batch may be caused by a single call. */
export const isOfOneCall = (error: unknown): boolean => classesOfOneCall.has((sqlStateOf(error) ?? '').slice(0, 2))

/** Whether a call was refused for its content, and so would fail in any batch. */
export const isRefusedCall = (error: unknown): boolean =>
  kindOfFailure(error) === 'refused' && (error instanceof RangeError || isOfOneCall(error))

const waysOut: Readonly<Record<FailureKind, string>> = {
  notSent: 'Check that the server runs and accepts connections, and that `connections` and the server’s limit leave room.',
  rolledBack: 'Nothing was changed: try again.',
  lost: 'The connection ended before the response, so the outcome is unknown. Check the server, and read before writing again.',
  late: 'Nothing was changed. Look for long transactions and locks on the server, or raise `statementTimeoutMs`.',
  silent: 'The outcome is unknown. The server is probed until it responds; check the server and the network.',
  refused: 'Nothing was changed.',
}

/** The error that a caller sees. It names the method and a remedy, and never contains the connection's password. */
export function toPostgresError(verb: PostgresVerb, error: unknown, secrets: readonly string[]): Error {
  if (error instanceof RangeError || error instanceof SchemaError) return error
  const state = sqlStateOf(error) ?? sqlStateOf((error as { cause?: unknown } | undefined)?.cause)
  const trouble = `${errorMessage(error)}${state === undefined ? '' : ` (SQLSTATE ${state})`}`
  const found = new Error(
    `postgresStorage: ${verb}: ${withoutSecrets(trouble, secrets)}. ${adviceFor(error) ?? waysOut[kindOfFailure(error)]}`,
  )
  return state === undefined ? found : Object.assign(found, { code: state })
}

const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((clean, secret) => clean.replaceAll(secret, '***'), text)
