import { GatewayError } from '@signalbox/dialects/errors'
import { type JsonObject, own, roundUsd, toUsd } from '@signalbox/dialects/protocol'
import type { Field, Fields, InputMode, InputOf, InputSpec, RecordOf, ValueSpec } from './fields.ts'

const suffixes: Readonly<Record<string, string>> = { usd: '_usd', microdollars: '_microdollars' }

/** The name of a field in JSON: `apiKeyId` → `api_key_id`, the `usd` field `limit` → `limit_usd`. */
export const wireName = (name: string, { kind, unsuffixed }: WireNameFacts = { kind: 'string' }): string =>
  name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`) + (unsuffixed ? '' : (suffixes[kind] ?? ''))

type WireNameFacts = Pick<Field, 'kind'> & { readonly unsuffixed?: true }

/** The fields that are present, with their names and values in JSON. */
export const toWire = (fields: Fields, values: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const value = own(values as JsonObject, name)
      return value === undefined ? [] : [[wireName(name, field), wireValue(field, value)]]
    }),
  )

function wireValue(field: Field, value: unknown): unknown {
  if (value === null) return null
  if (field.kind === 'usd') return toUsd(value as number)
  if (field.kind === 'time') return new Date(value as number | Date).toISOString()
  if (isObjectList(field)) return (value as readonly object[]).map(each => toWire(field.of.fields, each))
  return field.kind === 'object' ? toWire(field.fields, value as object) : value
}

/** Whether a value is a list of objects, which have fields of their own. */
const isObjectList = (spec: ValueSpec): spec is ObjectList => spec.kind === 'list' && spec.of.kind === 'object'

type ObjectList = Extract<ValueSpec, { kind: 'list' }> & { readonly of: Extract<ValueSpec, { kind: 'object' }> }

/** A record as JSON: every field of a reply, with null for an absent nullable field. */
export const toReply = <F extends Fields>(fields: F, record: RecordOf<F>): Readonly<Record<string, unknown>> => {
  const shown = Object.entries<Field>(fields).filter(([, { reply }]) => reply !== undefined)
  const nulls = shown.filter(([, { reply }]) => reply === 'nullable').map(([name, field]) => [wireName(name, field), null])
  return { ...Object.fromEntries(nulls), ...toWire(Object.fromEntries(shown), record) }
}

/** The input of a call, from a JSON body that `checkInput` has accepted. */
export const fromWire = <F extends Fields, M extends InputMode>({ fields, mode }: InputSpec<F, M>, body: JsonObject): InputOf<F, M> =>
  Object.fromEntries(
    Object.entries<Field>(fields).flatMap(([name, field]) => {
      const value = own(body, wireName(name, field))
      return value === undefined ? [] : [[name, valueFrom(field, mode, value)]]
    }),
  ) as InputOf<F, M>

function valueFrom(field: ValueSpec, mode: InputMode, value: unknown): unknown {
  if (value === null) return null
  if (field.kind === 'usd') return roundUsd(value as number)
  if (field.kind === 'time') return new Date(value as string)
  if (isObjectList(field)) return (value as readonly JsonObject[]).map(each => fromWire({ fields: field.of.fields, mode }, each))
  return field.kind === 'object' ? fromWire({ fields: field.fields, mode }, value as JsonObject) : value
}

/** The same error for a client over HTTP: fields have their JSON names, in `param` and in quotes in the message. */
export function withWireNames(error: GatewayError, fields: Fields): GatewayError {
  const { param, ...facts } = error.facts
  const message = error.message.replace(/`([\w.[\]]+)`/g, (_, path: string) => `\`${wirePath(path, fields)}\``)
  return new GatewayError(error.code, { ...facts, message, param: param === undefined ? undefined : wirePath(param, fields) })
}

/**
 * The JSON path of a field: `budget.limit` → `budget.limit_usd`. A path that does not begin with one of the fields is returned unchanged.
 */
export function wirePath(path: string, fields: Fields): string {
  const [, name = '', rest = ''] = /^(\w+)(.*)$/.exec(path) ?? []
  const field = own(fields, name)
  if (field === undefined) return path
  const inner = field.kind === 'object' && rest.startsWith('.') ? `.${wirePath(rest.slice(1), field.fields)}` : rest
  return wireName(name, field) + inner
}
