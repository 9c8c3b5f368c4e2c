import * as z from 'zod'
import type { Call } from '../routes.ts'

type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : S

/** JSON has no undefined: a field is there with a value, or it is not there. */
type Defined<T> = T extends readonly unknown[] ? T : T extends object ? { readonly [K in keyof T]: Defined<Exclude<T[K], undefined>> } : T

type InCore<T> = { readonly [K in keyof T as CamelCase<K & string>]: Defined<Exclude<T[K], undefined>> }

/** The fields as core spells them: `rate_limit_rpm` → `rateLimitRpm`. Not of what is inside of them. */
export const inCore = <T extends object>(fields: T): InCore<T> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), value]),
  ) as InCore<T>

/** The body that the schema of the row has let pass, as core spells it. */
export const bodyOf = <S extends () => z.ZodType<object>>({ body }: Call): InCore<z.infer<ReturnType<S>>> =>
  inCore(body as z.infer<ReturnType<S>>)

/** Of names that were known when they were laid down. */
export const nameWarnings = () =>
  z
    .array(z.object({ code: z.literal('unknown_name'), message: z.string(), param: z.string() }))
    .optional()
    .meta({ description: 'Names in the lists that the gateway does not know any more. Absent: it knows all of them.' })
