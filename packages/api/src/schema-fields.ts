import * as z from 'zod/v4'

// Short forms for the schemas of bodies: a description for the OpenAPI document, and the fields. `optional…` also accepts null.

/** A string. */
export const textField = (description: string, example?: string) => withExample(z.string(), description, example)
export const optionalText = (description: string) => z.string().nullish().describe(description)

/** A string of at least one character. */
export const nonEmpty = (description?: string) => (description === undefined ? z.string().min(1) : z.string().min(1).describe(description))

export const integerField = (description: string, example?: number) => withExample(z.int(), description, example)
export const optionalFlag = (description: string) => z.boolean().nullish().describe(description)

const withExample = <Schema extends z.ZodType>(schema: Schema, description: string, example: string | number | undefined): Schema =>
  schema.meta(example === undefined ? { description } : { description, example })

export const listField = <Entry extends z.ZodType>(description: string, entry: Entry) => z.array(entry).describe(description)
export const optionalList = <Entry extends z.ZodType>(description: string, entry: Entry) => z.array(entry).nullish().describe(description)

/** An object that has no fields but these. */
export const closedObject = <Shape extends z.ZodRawShape>(description: string, fields: Shape) => z.object(fields).describe(description)
/** An object that may have more fields than these. */
export const openObject = (description: string, fields: z.ZodRawShape) => z.looseObject(fields).describe(description)
export const optionalObject = (description: string, fields: z.ZodRawShape) => z.looseObject(fields).nullish().describe(description)

/** A member of a union, discriminated by `type`. */
export const variant = (type: string, description: string, fields: z.ZodRawShape = {}) =>
  z.looseObject({ type: z.literal(type).describe(description), ...fields })

/** A `type` that the gateway does not know. Such an object is passed on unchanged. */
export const otherType = (known: readonly string[]) => z.string().meta({ not: { enum: known } })
/** The last member of a union: an object of a type that the gateway does not know. */
export const otherVariant = (known: readonly string[], description: string, fields: z.ZodRawShape = {}) =>
  z.looseObject({ type: otherType(known).describe(description), ...fields })

export const unionField = (description: string, options: readonly z.ZodType[]) => z.union(options).describe(description)
/** A union that is a named schema of the OpenAPI document. */
export const namedUnion = (id: string, description: string, options: readonly z.ZodType[]) => z.union(options).meta({ id, description })
