import { createHash } from 'node:crypto'
import { CircuitBreaker } from '@signalbox/storage/breaker'
import { type Batches, createBatches, RETRY_AFTER_MS } from './batches.ts'
import {
  errorMessage,
  NotSentError,
  type PostgresClient,
  type SqlRow,
  type SqlStatement,
  silenceMs,
  sqlStateOf,
  UnresponsiveServerError,
} from './client.ts'
import { failsInSilence, isReport, isSentAgain, kindOfFailure, type PostgresVerb, SchemaError, toPostgresError } from './failures.ts'
import { createGates } from './gate.ts'
import { faultOfVersion, migratePostgres, readSchemaVersion } from './migrations.ts'
import { callSql, keptText } from './parameters.ts'
import { adviceFor } from './start-advice.ts'

/** A database schema as the stores use it. It is set up on first use. */
export interface PostgresConnection {
  readonly schema: string
  /** Whether the database's clock decides the time. */
  readonly isServerTime: boolean
  /** Runs one statement, and retries it if that may help. */
  run(verb: PostgresVerb, statement: SqlStatement): Promise<readonly SqlRow[]>
  /** Creates a function that calls a function of the schema with text parameters and returns its result. */
  caller(verb: PostgresVerb, name: string, types: readonly string[]): (values: readonly unknown[]) => Promise<unknown>
  /** Creates a method whose calls are sent in batches. */
  batched<Call, Answer>(options: BatchedVerb<Call, Answer>): (call: Call) => Promise<Answer>
  /** The name under which a fixed statement is prepared; undefined if none are. */
  nameOf(text: string): string | undefined
  /** Whether the schema has been used. */
  isReady(): boolean
  ping(): Promise<void>
  /** Sends pending batches, then closes. Later calls fail. */
  close(): Promise<void>
}

/** A method whose calls are sent in batches. */
interface BatchedVerb<Call, Answer> {
  readonly verb: PostgresVerb
  /** The database function and its parameter types. */
  readonly name: string
  readonly types: readonly string[]
  readonly toValues: (calls: readonly Call[]) => readonly unknown[]
  /** One result per call, in order; an error fails only its call. */
  readonly toAnswers: (answer: unknown, calls: readonly Call[]) => readonly (Answer | Error)[]
  /** Calls with the same key never share a batch. */
  readonly keyOf?: (call: Call) => string
  /** Runs before a batch is sent. Never fails. */
  readonly prepare?: (calls: readonly Call[]) => Promise<void> | undefined
}

export interface PostgresConnectionOptions {
  readonly schema: string
  readonly migrate: boolean
  readonly prepare: boolean
  readonly isServerTime: boolean
  /** Texts that no error may contain. */
  readonly secrets: readonly string[]
  /** Connections of the pool. */
  readonly connections: number
  /** Milliseconds that a statement waits for a connection. */
  readonly connectTimeoutMs: number
}

/** Maximum named prepared statements. Further ones are sent unprepared. */
const MAX_NAMES = 500

interface Readiness {
  isReady: boolean
  getting: Promise<void> | undefined
}

/** Wraps a client. `openPostgres(client, { schema: 'signalbox', migrate: true, … }).run('read', statement)` */
export function openPostgres(client: PostgresClient, options: PostgresConnectionOptions): PostgresConnection {
  const { schema, secrets } = options
  const state: Readiness = { isReady: false, getting: undefined }
  const queues: Batches<unknown, unknown>[] = []
  const nameOf = makeNames(options.prepare)
  // For a server that accepts connections but does not respond. Errors arrive by themselves; silence must be measured. A slow server is not
  // silent: while any statement or probe gets a response, the others wait for their own timeouts.
  const breaker = new CircuitBreaker({
    probe: () => answered(client.run({ text: 'SELECT 1', values: [] }, AbortSignal.timeout(silenceMs))).catch(throwUnlessAnswer),
    effectOf: () => 'own',
    silenceMs,
    delays: { firstMs: 250, maxMs: 250 },
  })
  const answered = <T>(running: Promise<T>): Promise<T> => {
    running.then(
      () => breaker.answered(),
      error => isAnswer(error) && breaker.answered(),
    )
    return running
  }
  const gates = createGates(options)
  /** Sends a statement once the schema is ready. One that a request waits for fails while the server is silent. */
  const attempt: Attempt = (verb, statement, prepare) => {
    const send = async (signal?: AbortSignal): Promise<readonly SqlRow[]> => {
      if (!state.isReady) await getReady(client, options, state)
      await prepare?.()
      return client.isConcurrent ? gates.all.run(() => client.run(statement, signal)) : client.run(statement)
    }
    if (!client.isConcurrent) return answered(send())
    const sent = async (): Promise<readonly SqlRow[]> => {
      if (!failsInSilence(verb)) return answered(send())
      const abort = new AbortController()
      return breaker.run(
        () => answered(send(abort.signal)),
        () => {
          abort.abort()
          return Promise.reject(new UnresponsiveServerError())
        },
      )
    }
    return isReport(verb) ? gates.reports.run(sent) : sent()
  }
  let closing: Promise<void> | undefined

  const run = async (verb: PostgresVerb, statement: SqlStatement): Promise<readonly SqlRow[]> => {
    if (closing) throw storageClosedError()
    const sent = isRead(verb) ? withKeptTexts(statement) : statement
    return runTwice(verb, () => attempt(verb, sent)).catch(error => {
      throw toPostgresError(verb, error, secrets)
    })
  }
  const statementOf = (name: string, types: readonly string[]): Omit<SqlStatement, 'values'> => {
    const text = callSql(schema, name, types)
    return { text, name: nameOf(text) }
  }

  return {
    schema,
    isServerTime: options.isServerTime,
    nameOf,
    run,
    caller(verb, name, types) {
      const statement = statementOf(name, types)
      return async values => (await run(verb, { ...statement, values }))[0]?.answer
    },
    batched({ verb, name, types, toValues, toAnswers, keyOf, prepare }) {
      const statement = statementOf(name, types)
      const batches = createBatches({
        verb,
        send: async (calls: readonly Parameters<typeof toValues>[0][number][]) => {
          const rows = await attempt(verb, { ...statement, values: toValues(calls) }, () => prepare?.(calls))
          return toAnswers(rows[0]?.answer, calls)
        },
        toError: error => toPostgresError(verb, error, secrets),
        keyOf,
      })
      queues.push(batches as unknown as Batches<unknown, unknown>)
      return call => (closing ? Promise.reject(storageClosedError()) : batches.add(call))
    },
    isReady: () => state.isReady,
    ping: async () => {
      await run('read', { text: `SELECT version FROM ${schema}.schema_version`, values: [] })
    },
    close() {
      closing ??= Promise.all(queues.map(queue => queue.idle())).then(() => {
        breaker.close()
        return client.close()
      })
      return closing
    },
  }
}

const storageClosedError = (): Error =>
  new Error('postgresStorage: the storage is closed. Create a new one, or close it after the last request.')

const isRead = (verb: PostgresVerb): boolean => verb === 'read' || verb === 'report'

/** No row has a text with NUL, so a read that names one finds nothing, and does not fail. */
const withKeptTexts = (statement: SqlStatement): SqlStatement =>
  statement.values.some(hasNul)
    ? { ...statement, values: statement.values.map(value => (hasNul(value) ? keptText(value) : value)) }
    : statement

const hasNul = (value: unknown): value is string => typeof value === 'string' && value.includes('\0')

type Attempt = (verb: PostgresVerb, statement: SqlStatement, prepare?: () => Promise<void> | undefined) => Promise<readonly SqlRow[]>

/** An error from the server is a response too; a connection error is not. */
const isAnswer = (error: unknown): boolean => (sqlStateOf(error) ?? sqlStateOf((error as Error | undefined)?.cause)) !== undefined

function throwUnlessAnswer(error: unknown): void {
  if (!isAnswer(error)) throw error
}

/** Runs a statement, and retries it if that may help. */
async function runTwice<T>(verb: PostgresVerb, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt()
  } catch (error) {
    if (!isSentAgain(verb, kindOfFailure(error))) throw error
    await new Promise(resolve => setTimeout(resolve, RETRY_AFTER_MS))
    return attempt()
  }
}

/** Migrates or checks the schema, once for all waiting calls. After a failure, the next call tries again. */
function getReady(client: PostgresClient, { schema, migrate }: PostgresConnectionOptions, state: Readiness): Promise<void> {
  state.getting ??= (migrate ? migratePostgres(client, schema) : Promise.resolve())
    .then(async () => {
      const fault = faultOfVersion(await readSchemaVersion(client, schema), schema)
      if (fault) throw fault
      state.isReady = true
    })
    .catch(error => {
      // The statement that waits for the schema was not sent.
      if (error instanceof SchemaError) throw error
      const kind = kindOfFailure(error)
      if (kind === 'lost' || kind === 'notSent') throw new NotSentError(errorMessage(error), { cause: error })
      const found = adviceFor(error)
      const advice = found === undefined ? '' : ` ${found}`
      throw new SchemaError(`postgresStorage: \`${schema}\` cannot be made ready: ${errorMessage(error)}.${advice}`, { cause: error })
    })
    .finally(() => {
      state.getting = undefined
    })
  return state.getting
}

/** Names are derived from the text, because several storages may share a pool, on whose connections each name is unique. */
function makeNames(prepare: boolean): (text: string) => string | undefined {
  const names = new Map<string, string>()
  return text => {
    if (!prepare) return undefined
    const known = names.get(text)
    if (known !== undefined || names.size >= MAX_NAMES) return known
    const name = `signalbox_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
    names.set(text, name)
    return name
  }
}
