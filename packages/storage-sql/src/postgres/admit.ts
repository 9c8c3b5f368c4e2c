import type { Storage } from '@signalbox/storage'
import { type Admission, faultOfAdmission, type LimitRefusal } from '@signalbox/storage/admission'
import type { PostgresConnection } from './connection.ts'
import { timesOf } from './counters.ts'
import { keptText, numberArray, textArray } from './parameters.ts'

/** The numbers of kinds of limits in SQL. Refusals name both kinds of counters by that of requests. */
const kinds = { slot: 0, rate: 1, tokens: 2, account: 3 } as const

/** Admits requests in PostgreSQL: each in one transaction, many in one statement. `await postgresAdmit(connection)({ id, limits, at })` */
export function postgresAdmit(connection: PostgresConnection): NonNullable<Storage['admit']> {
  let unnamed = 0
  const admit = connection.batched({
    verb: 'admit',
    name: 'admit',
    types: ['bigint[]', 'text[]', 'text[]', 'int[]', 'int[]', 'int[]', 'text[]', 'bigint[]', 'bigint[]', 'bigint[]'],
    // Of counters alone, the id means nothing.
    keyOf: (admission: Admission) => (isHeld(admission) || admission.limits.some(isSlot) ? `id ${admission.id}` : `${++unnamed}`),
    toValues: admissions => {
      const rows = admissions.flatMap(({ limits }, index) => limits.map(limit => ({ ...limit, call: index + 1 })))
      return [
        timesOf(admissions, connection.isServerTime),
        textArray(admissions.map(({ id }) => id)),
        textArray(admissions.map(({ journal }) => keptText(journal?.()))),
        numberArray(admissions.map(admission => (isHeld(admission) ? 1 : 0))),
        numberArray(rows.map(({ call }) => call)),
        numberArray(rows.map(({ kind }) => kinds[kind])),
        textArray(rows.map(({ key }) => key)),
        numberArray(rows.map(({ amount }) => amount)),
        numberArray(rows.map(({ kind, limit }) => (kind === 'account' ? floorOf(limit) : limit))),
        numberArray(rows.map(({ windowMs }) => windowMs)),
      ]
    },
    toAnswers(answer: unknown, admissions) {
      const refusals: (LimitRefusal | undefined)[] = admissions.map(() => undefined)
      const refused = typeof answer === 'string' ? (JSON.parse(answer) as readonly (readonly [number, number, string, number])[]) : []
      for (const [number, refusing, name, left] of refused) {
        const limits = admissions[number - 1]?.limits ?? []
        const index = limits.findIndex(({ kind, key }) => key === name && (kind === 'tokens' ? kinds.rate : kinds[kind]) === refusing)
        refusals[number - 1] = { index, left }
      }
      return refusals
    },
  })
  return admission => {
    const fault = faultOfAdmission(admission)
    // Copied, because the caller may change the object before the batch is sent.
    return fault ? Promise.reject(fault) : admit({ ...admission, limits: admission.limits.map(limit => ({ ...limit })) })
  }
}

const isSlot = ({ kind }: Admission['limits'][number]): boolean => kind === 'slot'

const isHeld = ({ limits, journal }: Admission): boolean => journal !== undefined || limits.some(({ kind }) => kind === 'account')

const floorOf = (limit: number): number | undefined => (limit === Number.POSITIVE_INFINITY ? undefined : 0 - limit)
