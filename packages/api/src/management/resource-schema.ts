import { type Field, type Fields, type InputMode, isTaken, type ValueSpec, wireName } from '@signalbox/core/resources'
import { toUsd } from '@signalbox/gateway'
import * as z from 'zod/v4'

/** The JSON of a resource as a zod schema, for OpenAPI: the input of its creation or change, or its reply. */
export const resourceSchema = (fields: Fields, mode: InputMode | 'reply'): z.ZodObject => {
  const shape = Object.entries(fields).flatMap(([name, field]) => {
    const need = mode === 'reply' ? field.reply : isTaken(field, mode, 'json')
    return need === undefined ? [] : [[wireName(name, field), fieldSchema(field, { mode, need })] as const]
  })
  return (mode === 'reply' ? z.object : z.strictObject)(Object.fromEntries(shape))
}

type Need = NonNullable<Field['create'] | Field['update'] | Field['reply']>

function fieldSchema(field: Field, { mode, need }: { readonly mode: InputMode | 'reply'; readonly need: Need }): z.ZodType {
  const value = valueSchema(field, mode)
  const orNull = need === 'nullable' ? value.nullable() : value
  const isOptional = need === 'optional' || (need === 'nullable' && mode !== 'reply')
  const schema = isOptional ? orNull.optional() : orNull
  const { description, example } = field
  return schema.meta({ ...(description !== undefined && { description }), ...(example !== undefined && { example }) })
}

function valueSchema(spec: ValueSpec, mode: InputMode | 'reply'): z.ZodType {
  switch (spec.kind) {
    case 'string':
      return spec.format === 'uuid' ? z.uuid() : bounded(z.string(), spec)
    case 'boolean':
      return z.boolean()
    case 'enum':
      return mode === 'reply' && spec.values.length === 1 ? z.literal(spec.values[0] ?? '') : z.enum(spec.values)
    case 'time':
      return z.iso.datetime()
    case 'list':
      return bounded(z.array(valueSchema(spec.of, mode)), spec)
    case 'json':
      return z.record(z.string(), z.unknown())
    case 'map':
      return z.record(z.string(), z.string())
    case 'object':
      return resourceSchema(spec.fields, mode)
    case 'usd':
      return bounded(z.number(), mode === 'reply' ? {} : { min: inUsd(spec.min), max: inUsd(spec.max) })
    case 'number':
      return bounded(spec.above === undefined ? z.number() : z.number().gt(spec.above), spec)
    case 'milliseconds':
      return z.int()
    case 'integer':
    case 'microdollars':
      return bounded(z.int(), spec)
  }
}

const inUsd = (microdollars: number | undefined): number | undefined => (microdollars === undefined ? undefined : toUsd(microdollars))

interface Bounded<Schema> {
  min(least: number): Schema
  max(most: number): Schema
}

function bounded<Schema extends Bounded<Schema>>(
  schema: Schema,
  { min, max }: { readonly min?: number | undefined; readonly max?: number | undefined },
): Schema {
  const fromMin = min === undefined ? schema : schema.min(min)
  return max === undefined ? fromMin : fromMin.max(max)
}
