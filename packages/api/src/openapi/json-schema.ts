import * as z from 'zod/v4'

/** A JSON schema as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Schemas by their name in the document. */
export type Components = Map<string, JsonSchema>

const refPrefix = '#/components/schemas/'

export const refTo = (name: string): JsonSchema => ({ $ref: `${refPrefix}${name}` })

/** Adds a Zod schema to the components, together with each schema in it that has an `id`. */
export function addComponent(components: Components, name: string, schema: z.ZodType): void {
  const { $schema: _, $defs = {}, ...root } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', override: listExample })
  const inner = Object.entries(withRefs($defs))
  for (const [id, component] of inner) components.set(id, component as JsonSchema)
  if (!components.has(name)) components.set(name, withRefs(root))
}

/** Converts `example` to `examples`, as in OpenAPI 3.1. */
function listExample({ jsonSchema }: { readonly jsonSchema: Record<string, unknown> }): void {
  if (!('example' in jsonSchema)) return
  jsonSchema.examples = [jsonSchema.example]
  delete jsonSchema.example
}

const withRefs = (schema: object): JsonSchema => JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', `"${refPrefix}`))

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null && !Array.isArray(value)
const schemasIn = (value: unknown): readonly JsonSchema[] => (Array.isArray(value) ? value.filter(isSchema) : [])

/** The component that a schema refers to, or the schema itself. */
function resolve(schema: JsonSchema, components: Components): JsonSchema {
  const { $ref } = schema
  return typeof $ref === 'string' ? (components.get($ref.slice(refPrefix.length)) ?? {}) : schema
}

/** A value that matches a schema: its own example, or one composed of its fields' examples. */
export function exampleOf(reference: JsonSchema, components: Components): unknown {
  const schema = resolve(reference, components)
  if (Array.isArray(schema.examples)) return schema.examples[0]
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]
  const [variant] = schemasIn(schema.anyOf)
  if (variant !== undefined) return exampleOf(variant, components)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === 'object') return exampleObject(schema, components)
  if (type === 'array') return [exampleOf(isSchema(schema.items) ? schema.items : {}, components)]
  if (type === 'string') return stringExamples.get(String(schema.format)) ?? 'text'
  if (type === 'boolean') return true
  return type === 'integer' || type === 'number' ? Math.max(1, Number(schema.minimum ?? 1)) : null
}

const stringExamples: ReadonlyMap<string, string> = new Map([
  ['uuid', '01a1fd6c-4db3-76f2-bb09-734d779bb6f4'],
  ['date-time', '2030-01-31T12:00:00.000Z'],
  ['date', '2030-01-31'],
  ['email', 'ada@example.com'],
])

/** An object with the required fields, and optional ones that have an example or a schema of their own. */
function exampleObject({ properties, required }: JsonSchema, components: Components): object {
  const isNamed = (schema: JsonSchema): boolean => '$ref' in schema || schemasIn(schema.anyOf).some(variant => '$ref' in variant)
  const fields = Object.entries(isSchema(properties) ? properties : {}).filter(
    ([name, schema]) =>
      (Array.isArray(required) && required.includes(name)) || (isSchema(schema) && ('examples' in schema || isNamed(schema))),
  )
  return Object.fromEntries(fields.map(([name, schema]) => [name, exampleOf(isSchema(schema) ? schema : {}, components)]))
}

/** Paths of fields without a description, as in `Model.providers[].name`. References are described by their components. */
export function undescribedFields(name: string, schema: JsonSchema, components: Components): readonly string[] {
  const fields = Object.entries(isSchema(schema.properties) ? schema.properties : {}).flatMap(([field, inner]) => {
    if (!isSchema(inner)) return []
    const path = `${name}.${field}`
    const isDescribed = [inner, resolve(inner, components)].some(({ description }) => typeof description === 'string')
    return [...(isDescribed ? [] : [path]), ...undescribedFields(path, inner, components)]
  })
  const inner = [...schemasIn(schema.anyOf), ...(isSchema(schema.additionalProperties) ? [schema.additionalProperties] : [])]
  return [
    ...fields,
    ...inner.flatMap(variant => undescribedFields(name, variant, components)),
    ...(isSchema(schema.items) ? undescribedFields(`${name}[]`, schema.items, components) : []),
  ]
}
