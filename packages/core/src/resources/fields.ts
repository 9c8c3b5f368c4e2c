// A resource is defined by a table of its fields. Its TypeScript types, the checks of input in process and over HTTP, its JSON and its
// OpenAPI schemas are derived from the table, so a new field is written once.

/** The type of a field's value. `min` and `max` are inclusive; for strings and lists they are lengths. */
export type ValueSpec =
  | { readonly kind: 'string'; readonly min?: number; readonly max?: number; readonly format?: 'uuid' }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'integer'; readonly min?: number; readonly max?: number }
  | { readonly kind: 'number'; readonly min?: number; readonly above?: number; readonly max?: number }
  /** Microdollars here, decimal USD in a JSON field that ends in `_usd` unless it is `unsuffixed`. */
  | { readonly kind: 'usd'; readonly min?: number; readonly max?: number; readonly unsuffixed?: true }
  /** Microdollars here and in JSON, in a field that ends in `_microdollars`. */
  | { readonly kind: 'microdollars'; readonly min?: number; readonly max?: number }
  /** `wireValues`: values that JSON and queries spell in another way. */
  | { readonly kind: 'enum'; readonly values: readonly string[]; readonly wireValues?: Readonly<Record<string, string>> }
  /** A `Date` in an input, Unix milliseconds in a record, ISO 8601 in JSON. */
  | { readonly kind: 'time' }
  /** Unix milliseconds. In process only. */
  | { readonly kind: 'milliseconds' }
  /** `or`: a string that stands for a list. In process only. */
  | { readonly kind: 'list'; readonly of: ValueSpec; readonly min?: number; readonly max?: number; readonly or?: string }
  /** An object with any content. */
  | { readonly kind: 'json' }
  /** An object with string values. */
  | { readonly kind: 'map' }
  | { readonly kind: 'object'; readonly fields: Fields }

/** A field of a resource. `create`, `update` and `reply` state where it occurs; an absent one means that it does not. */
export type Field = ValueSpec & {
  readonly description?: string
  readonly example?: unknown
  readonly create?: 'required' | 'optional'
  /** `nullable`: null removes the value. */
  readonly update?: 'optional' | 'nullable'
  /** `nullable`: absent here, null in JSON. `optional`: absent in both. */
  readonly reply?: 'always' | 'nullable' | 'optional'
  /** Not available over HTTP. */
  readonly inProcess?: true
  /** A change with this field is refused as `field_immutable`. Implied for fields that only `create` has. */
  readonly immutable?: true
}

/** The fields of a resource by TypeScript name. */
export type Fields = Readonly<Record<string, Field>>

/** The kind of input: to create a resource, to change it, or options, all of which may be absent. */
export type InputMode = 'create' | 'update' | 'options'

/** The fields of an input and its kind. */
export interface InputSpec<F extends Fields = Fields, M extends InputMode = InputMode> {
  readonly fields: F
  readonly mode: M
}

interface Values<Time> {
  readonly string: string
  readonly boolean: boolean
  readonly integer: number
  readonly number: number
  readonly usd: number
  readonly microdollars: number
  readonly time: Time
  readonly milliseconds: number
  readonly map: Readonly<Record<string, string>>
  readonly json: Readonly<Record<string, unknown>>
}

type Flat<T> = { [K in keyof T]: T[K] }
type KeysWhere<F, Facts> = { [K in keyof F]: F[K] extends Facts ? K : never }[keyof F]

type InputValue<F, M extends InputMode> = F extends { readonly kind: 'object'; readonly fields: infer Inner extends Fields }
  ? InputOf<Inner, M>
  : F extends { readonly or: infer Word }
    ? Word | ValueOf<F, Date>
    : ValueOf<F, Date>

type ValueOf<F, Time> = F extends { readonly kind: 'enum'; readonly values: readonly (infer Value)[] }
  ? Value
  : F extends { readonly kind: 'list'; readonly of: infer Entry }
    ? readonly ValueOf<Entry, Time>[]
    : F extends { readonly kind: 'object'; readonly fields: infer Inner extends Fields }
      ? RecordOf<Inner>
      : F extends { readonly kind: keyof Values<Time> }
        ? Values<Time>[F['kind']]
        : never

/** The input for creating a resource. */
export type CreateInput<F extends Fields> = Flat<
  { readonly [K in KeysWhere<F, { readonly create: 'required' }>]: InputValue<F[K], 'create'> } & {
    readonly [K in KeysWhere<F, { readonly create: 'optional' }>]?: InputValue<F[K], 'create'>
  }
>

/** The input for changing a resource. Absent fields stay unchanged. */
export type UpdateInput<F extends Fields> = Flat<
  { readonly [K in KeysWhere<F, { readonly update: 'optional' }>]?: InputValue<F[K], 'update'> } & {
    readonly [K in KeysWhere<F, { readonly update: 'nullable' }>]?: InputValue<F[K], 'update'> | null
  }
>

/** The input of a call, by mode: all fields for creation, a change, or options. */
export type InputOf<F extends Fields, M extends InputMode> = M extends 'create'
  ? CreateInput<F>
  : M extends 'update'
    ? UpdateInput<F>
    : { readonly [K in keyof F]?: ValueOf<F[K], Date> }

/** A resource as it is returned. Times are Unix milliseconds, money is microdollars. */
export type RecordOf<F extends Fields> = Flat<
  { readonly [K in KeysWhere<F, { readonly reply: 'always' }>]: ValueOf<F[K], number> } & {
    readonly [K in KeysWhere<F, { readonly reply: 'nullable' | 'optional' }>]?: ValueOf<F[K], number>
  }
>

/** The part of a record that its creator determines. */
export type BodyOf<F extends Fields> = Flat<
  Pick<RecordOf<F>, Extract<KeysWhere<F, { readonly create: 'required' | 'optional' }>, keyof RecordOf<F>>>
>
