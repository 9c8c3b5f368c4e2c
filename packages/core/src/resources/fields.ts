// A resource is a table of its fields. Its TypeScript types, the check of what a caller passes in process or over HTTP, its JSON and
// its OpenAPI schemas are all derived from that table, so a new field is written once.

/** What a value of a field can be. `min` and `max` are included; of a string and a list they are lengths. */
export type ValueSpec =
  | { readonly kind: 'string'; readonly min?: number; readonly max?: number; readonly format?: 'uuid' }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'integer'; readonly min?: number; readonly max?: number }
  | { readonly kind: 'number'; readonly min?: number; readonly above?: number; readonly max?: number }
  /** Microdollars here, decimal USD in a JSON field that ends in `_usd`. */
  | { readonly kind: 'usd'; readonly min?: number; readonly max?: number }
  /** Microdollars here and in JSON, in a field that ends in `_microdollars`. */
  | { readonly kind: 'microdollars'; readonly min?: number; readonly max?: number }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
  /** A `Date` in an input, Unix milliseconds in a record, ISO 8601 in JSON. */
  | { readonly kind: 'time' }
  /** Unix milliseconds; in process only. */
  | { readonly kind: 'milliseconds' }
  /** `or`: a word that stands for a list; in process only. */
  | { readonly kind: 'list'; readonly of: ValueSpec; readonly min?: number; readonly max?: number; readonly or?: string }
  /** An object of any content. */
  | { readonly kind: 'json' }
  /** Strings by name. */
  | { readonly kind: 'map' }
  | { readonly kind: 'object'; readonly fields: Fields }

/** A field of a resource. `create`, `update` and `reply` say where it occurs; where one is absent, it does not. */
export type Field = ValueSpec & {
  readonly description?: string
  readonly example?: unknown
  readonly create?: 'required' | 'optional'
  /** `nullable`: null removes the value. */
  readonly update?: 'optional' | 'nullable'
  /** `nullable`: absent here, null in JSON. `optional`: absent in both. */
  readonly reply?: 'always' | 'nullable' | 'optional'
  /** Not known over HTTP. */
  readonly inProcess?: true
  /** A change that names it is refused as `field_immutable`. Implied for fields that only `create` takes. */
  readonly immutable?: true
}

/** The fields of a resource by their names in TypeScript. */
export type Fields = Readonly<Record<string, Field>>

/** How fields are taken: to create a resource, to change it, or as options, all of which may be absent. */
export type InputMode = 'create' | 'update' | 'options'

/** What a call takes. */
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

/** What creates a resource. */
export type CreateInput<F extends Fields> = Flat<
  { readonly [K in KeysWhere<F, { readonly create: 'required' }>]: InputValue<F[K], 'create'> } & {
    readonly [K in KeysWhere<F, { readonly create: 'optional' }>]?: InputValue<F[K], 'create'>
  }
>

/** What changes a resource; a field that is absent stays as it is. */
export type UpdateInput<F extends Fields> = Flat<
  { readonly [K in KeysWhere<F, { readonly update: 'optional' }>]?: InputValue<F[K], 'update'> } & {
    readonly [K in KeysWhere<F, { readonly update: 'nullable' }>]?: InputValue<F[K], 'update'> | null
  }
>

/** What a call takes of a resource's fields, by mode: everything it is created with, a change, or options. */
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

/** The part of a record that a caller determines when it is created. */
export type BodyOf<F extends Fields> = Flat<
  Pick<RecordOf<F>, Extract<KeysWhere<F, { readonly create: 'required' | 'optional' }>, keyof RecordOf<F>>>
>
