import { type Field, type Fields, toReply } from '@signalbox/core/resources'

/** A field of a reply: what its schema says, and how its value is read from what core returns. */
type ReplyField<Row> = Field & { readonly from: (row: Row) => unknown }

/** A reply as a table of its fields, of which its JSON and its schema are made. Names and kinds are those of core's resources. */
export type ReplyTable<Row> = Readonly<Record<string, ReplyField<Row>>>

/** The JSON of a row. `replyOf(balanceReply, await billing.balance())` */
export const replyOf = <Row>(table: ReplyTable<Row>, row: Row): Readonly<Record<string, unknown>> =>
  toReply<Fields>(table, Object.fromEntries(Object.entries(table).map(([name, { from }]) => [name, from(row)])))

interface Facts<Row, Value> {
  readonly description: string
  readonly example: unknown
  readonly from: (row: Row) => Value | null | undefined
}

/** Makes the fields of a table of rows. */
export const fieldsOf = <Row>() => ({
  text: (facts: Facts<Row, string>) => ({ kind: 'string', reply: 'always', ...facts }) as const,
  textOrNull: (facts: Facts<Row, string>) => ({ kind: 'string', reply: 'nullable', ...facts }) as const,
  flag: (facts: Facts<Row, boolean>) => ({ kind: 'boolean', reply: 'always', ...facts }) as const,
  integer: (facts: Facts<Row, number>) => ({ kind: 'integer', reply: 'always', ...facts }) as const,
  integerOrNull: (facts: Facts<Row, number>) => ({ kind: 'integer', reply: 'nullable', ...facts }) as const,
  time: (facts: Facts<Row, number>) => ({ kind: 'time', reply: 'always', ...facts }) as const,
  usd: (facts: Facts<Row, number>) => ({ kind: 'usd', reply: 'always', ...facts }) as const,
})
