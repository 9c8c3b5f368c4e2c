import { isObject, type Json, type JsonObject } from '../protocol/wire.ts'

// Claude Code puts a block before `system` that serves Anthropic as a header: `x-anthropic-billing-header: cc_version=…;`. It changes with
// each request, so anywhere else it would only defeat prompt caches. It is stored among the request headers, separate from the prompt, and
// put back before `system` if the offer accepts it (quirk `billingHeader`).

/** The header name, which is also the prefix of the block's text. */
export const billingHeader = 'x-anthropic-billing-header'
const start = `${billingHeader}:`

const isBillingBlock = (block: Json): block is JsonObject & { readonly text: string } =>
  isObject(block) && typeof block.text === 'string' && block.text.startsWith(start)

interface SplitSystem {
  /** The text of the block, if there is one. */
  readonly header?: string
  /** `system` without the block. */
  readonly system: Json | undefined
}

/** Splits `system`, which is a list of blocks, or a text whose first line is the header. Only the first block counts. */
export function splitBillingHeader(system: Json | undefined): SplitSystem {
  if (typeof system === 'string') {
    if (!system.startsWith(start)) return { system }
    const end = system.indexOf('\n')
    return end === -1 ? { header: system, system: undefined } : { header: system.slice(0, end), system: system.slice(end + 1).trimStart() }
  }
  const [first, ...rest] = Array.isArray(system) ? (system as readonly Json[]) : []
  if (first === undefined || !isBillingBlock(first)) return { system }
  return { header: first.text, system: rest.length > 0 ? rest : undefined }
}

/** `system` with the block in front of it. */
export function withBillingHeader(system: Json | undefined, header: string): Json {
  const blocks = typeof system === 'string' ? [{ type: 'text', text: system }] : Array.isArray(system) ? (system as readonly Json[]) : []
  return [{ type: 'text', text: header }, ...blocks]
}
