/** `allowedModels` → `allowed_models` */
export const wireName = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** Fields by their names on the wire, for the audit: `allowedModels` → `allowed_models`. */
export const wireNames = (fields: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [wireName(name), value instanceof Date ? value.toISOString() : value]),
  )

/** What is left of a change when what was taken away with `null` is gone. */
export const given = <T extends object>(fields: { readonly [Field in keyof T]?: T[Field] | null | undefined }): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)) as T
