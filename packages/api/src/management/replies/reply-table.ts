import { type Field, type Fields, toReply } from '@signalbox/core/resources'
import { type JsonObject, own } from '@signalbox/dialects/protocol'
import type { Call } from '../../route.ts'

/** A field of a reply: its schema, and its value, if that is not the property of the same name. */
type ReplyField<Row> = Field & { readonly from?: ((row: Row, call: Call) => unknown) | undefined }

/** A reply as a table of its fields, from which its JSON and its schema are derived. Names and kinds are those of core's resources. */
export type ReplyTable<Row> = Readonly<Record<string, ReplyField<Row>>>

/** The values of a row by the names of the fields. */
export const valuesOf = <Row extends object>(table: ReplyTable<Row>, row: Row, call: Call): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(table).map(([name, { from }]) => [name, from ? from(row, call) : own(row as JsonObject, name)]))

/** The JSON of a row. `replyOf(balanceReply, await billing.balance(), call)` */
export const replyOf = <Row extends object>(table: ReplyTable<Row>, row: Row, call: Call): Readonly<Record<string, unknown>> =>
  toReply<Fields>(table, valuesOf(table, row, call))

/** Helpers that create the fields of a table, which are always present or, if their name says so, null where they have no value. */
export const fieldsOf = <Row>() => {
  const of =
    <Kind extends 'string' | 'boolean' | 'integer' | 'number' | 'time' | 'usd' | 'microdollars'>(
      kind: Kind,
      reply: 'always' | 'nullable' = 'always',
    ) =>
    (description: string, example: unknown, from?: (row: Row, call: Call) => unknown) => ({ kind, reply, description, example, from })
  return {
    text: of('string'),
    textOrNull: of('string', 'nullable'),
    flag: of('boolean'),
    integer: of('integer'),
    integerOrNull: of('integer', 'nullable'),
    number: of('number'),
    numberOrNull: of('number', 'nullable'),
    time: of('time'),
    usd: of('usd'),
    microdollars: of('microdollars'),
  }
}
