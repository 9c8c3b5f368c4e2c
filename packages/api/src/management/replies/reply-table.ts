import { type Field, type Fields, toReply } from '@signalbox/core/resources'

/** A field of a reply: its schema, and how to get its value from core's result. */
type ReplyField<Row> = Field & { readonly from: (row: Row) => unknown }

/** A reply as a table of its fields, from which its JSON and its schema are derived. Names and kinds are those of core's resources. */
export type ReplyTable<Row> = Readonly<Record<string, ReplyField<Row>>>

/** The JSON of a row. `replyOf(balanceReply, await billing.balance())` */
export const replyOf = <Row>(table: ReplyTable<Row>, row: Row): Readonly<Record<string, unknown>> =>
  toReply<Fields>(table, Object.fromEntries(Object.entries(table).map(([name, { from }]) => [name, from(row)])))

interface Facts<Row, Value> {
  readonly description: string
  readonly example: unknown
  readonly from: (row: Row) => Value | null | undefined
}

/** Helpers that create the fields of a table. */
export const fieldsOf = <Row>() => ({
  text: (facts: Facts<Row, string>) => ({ kind: 'string', reply: 'always', ...facts }) as const,
  textOrNull: (facts: Facts<Row, string>) => ({ kind: 'string', reply: 'nullable', ...facts }) as const,
  flag: (facts: Facts<Row, boolean>) => ({ kind: 'boolean', reply: 'always', ...facts }) as const,
  integer: (facts: Facts<Row, number>) => ({ kind: 'integer', reply: 'always', ...facts }) as const,
  integerOrNull: (facts: Facts<Row, number>) => ({ kind: 'integer', reply: 'nullable', ...facts }) as const,
  time: (facts: Facts<Row, number>) => ({ kind: 'time', reply: 'always', ...facts }) as const,
  usd: (facts: Facts<Row, number>) => ({ kind: 'usd', reply: 'always', ...facts }) as const,
})
