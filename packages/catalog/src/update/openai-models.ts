import * as z from 'zod/v4'

// OpenAI's GET /v1/models: `data`, each with `id` and, if announced, `shutdown_date`.

const modelList = z.object({ data: z.array(z.unknown()) })
const shutdown = z.object({
  id: z.string(),
  shutdown_date: z.union([z.string().regex(/^\d{4}-\d\d-\d\d/), z.int().min(0).max(10_000_000_000)]),
})

/**
 * Reads OpenAI's model list: the last day of each model that has one, as an ISO date by id.
 *
 * @example readOpenAiShutdowns({ data: [{ id: 'gpt-5', shutdown_date: '2026-12-11' }] }).get('gpt-5') // '2026-12-11'
 */
export function readOpenAiShutdowns(json: unknown): ReadonlyMap<string, string> {
  const { data: list } = modelList.safeParse(json)
  const entries = (list?.data ?? []).flatMap(item => shutdown.safeParse(item).data ?? [])
  return new Map(entries.flatMap(({ id, shutdown_date: date }) => (isoDay(date) === undefined ? [] : [[id, isoDay(date) ?? '']])))
}

function isoDay(date: string | number): string | undefined {
  const time = typeof date === 'number' ? date * 1000 : Date.parse(date.slice(0, 10))
  const text = Number.isNaN(time) ? '' : new Date(time).toISOString().slice(0, 10)
  return typeof date === 'number' || date.startsWith(text) ? text || undefined : undefined
}
