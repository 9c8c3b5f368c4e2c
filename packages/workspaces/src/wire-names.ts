/** The fields of a change without those removed by `null`. */
export const given = <T extends object>(fields: { readonly [Field in keyof T]?: T[Field] | null | undefined }): T =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)) as T

/** The fields that are not undefined. */
export const defined = <T extends object>(fields: T): { [Field in keyof T]: Exclude<T[Field], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Field in keyof T]: Exclude<T[Field], undefined>
  }
