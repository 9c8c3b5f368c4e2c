/** A JSON schema as the OpenAPI document has it. */
export type JsonSchema = Readonly<Record<string, unknown>>

interface Known {
  readonly schemas: Readonly<Record<string, JsonSchema>>
  /** Names of schemas that stand for themselves where the same schema occurs inside another. */
  readonly named: readonly string[]
}

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null && !Array.isArray(value)
const schemasIn = (value: unknown): readonly JsonSchema[] => (Array.isArray(value) ? value.filter(isSchema) : [])
const schemaText = ({ description: _, ...schema }: JsonSchema): string => JSON.stringify(schema)

/** A JSON schema as a TypeScript type. Throws for a schema that it has no type for. */
export function typeOf(schema: JsonSchema, known: Known): string {
  const { $ref, enum: values, anyOf, type } = schema
  if (typeof $ref === 'string') return refType($ref.split('/').at(-1) ?? '', known)
  if ('const' in schema) return JSON.stringify(schema.const)
  if (Array.isArray(values)) return values.map(value => JSON.stringify(value)).join(' | ')
  if (anyOf !== undefined) return [...new Set(schemasIn(anyOf).map(each => typeOf(each, known)))].join(' | ')
  const types = Array.isArray(type) ? type : [type]
  return types.map(each => plainType(each, schema, known)).join(' | ')
}

const refType = (name: string, known: Known): string =>
  known.named.includes(name) ? `Schemas['${name}']` : typeOf(known.schemas[name] ?? {}, known)

function plainType(type: unknown, schema: JsonSchema, known: Known): string {
  if (type === 'string' || type === 'boolean' || type === 'null') return type
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'array') return `readonly (${isSchema(schema.items) ? typeOf(schema.items, known) : 'unknown'})[]`
  if (type === 'object') return objectType(schema, known)
  if (type === undefined) return 'unknown'
  throw new Error(`There is no type for ${JSON.stringify(schema)}`)
}

function objectType(schema: JsonSchema, known: Known): string {
  const same = known.named.find(name => schemaText(known.schemas[name] ?? {}) === schemaText(schema))
  if (same !== undefined) return `Schemas['${same}']`
  const { properties, additionalProperties: others, required } = schema
  const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name)
  const fields = Object.entries(isSchema(properties) ? properties : {}).flatMap(([name, field]) => {
    if (!isSchema(field)) return []
    const doc = typeof field.description === 'string' ? [`/** ${field.description.replaceAll('*/', '* /')} */`] : []
    const type = typeOf(field, known)
    return [...doc, `readonly ${JSON.stringify(name)}${isRequired(name) ? ':' : '?:'} ${type}${isRequired(name) ? '' : ' | undefined'}`]
  })
  if (fields.length === 0) return `Readonly<Record<string, ${isSchema(others) ? typeOf(others, known) : 'unknown'}>>`
  const open = isSchema(others) ? ['readonly [name: string]: unknown'] : []
  return `{\n${[...fields, ...open].join('\n')}\n}`
}
