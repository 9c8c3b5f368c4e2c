import { type InferenceRequest, isObject, type Usage } from '@signalbox/dialects/protocol'
import type { UsageRow } from '@signalbox/storage'
import type { Plan } from '../../routing/plan.ts'
import type { CallFacts } from '../../runtime/ports.ts'
import { type Bill, noBill } from '../settlement/bill.ts'

// The journal of a hold: text stored with it, so that another process can settle the request if its own process ends.

/** The facts of a request that are known at admission. */
interface JournalFacts {
  readonly workspaceId: string
  readonly keyId: string
  /** The parent keys, whose budgets are charged too. */
  readonly ancestors?: CallFacts['ancestors']
  readonly budgets?: CallFacts['budgets']
  readonly tags?: readonly string[]
  /** Unix milliseconds. */
  readonly at: number
  readonly modelAsked: string
  /** The model of the first candidate. */
  readonly model: string
  readonly strategy: string
  readonly streamed: boolean
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

/** The facts that are known once a provider has been called. */
export interface JournalProgress {
  readonly model: string
  readonly provider: string
  readonly credential: UsageRow['credential']
  readonly attempts: number
  readonly durationMs: number
  readonly firstContentMs?: number
  /** Estimated, like the bill. */
  readonly usage: Usage
  readonly bill: Bill
}

export interface Journal extends JournalFacts {
  readonly slotKeys: readonly string[]
  readonly progress?: JournalProgress | undefined
}

/** The journal of a running request. */
export interface LiveJournal {
  slotKeys: readonly string[]
  /** Called whenever the journal is written. */
  progress: () => JournalProgress | undefined
  readonly write: () => string
}

/** Creates the journal of a request. Its text is made whenever it is written. */
export function createJournal(
  { workspaceId, keyId, ancestors, budgets, tags, model: modelAsked }: CallFacts,
  { request, plan, at }: { readonly request: InferenceRequest; readonly plan: Plan; readonly at: number },
): LiveJournal {
  const journal: LiveJournal = {
    slotKeys: [],
    progress: () => undefined,
    write: () =>
      JSON.stringify({
        workspaceId,
        keyId,
        ancestors: ancestors?.map(above => ({ keyId: above.keyId })),
        budgets,
        tags,
        at,
        modelAsked,
        model: plan.candidates[0].model.id,
        strategy: plan.strategy,
        streamed: request.delivery === 'stream',
        metadata: request.metadata,
        slotKeys: journal.slotKeys,
        progress: journal.progress(),
      } satisfies Journal),
  }
  return journal
}

/** Returns undefined if there is no journal or its format is unknown. */
export function parseJournal(text: string | undefined): Journal | undefined {
  try {
    const found: unknown = JSON.parse(text ?? '')
    return isJournal(found) ? found : undefined
  } catch {
    return undefined
  }
}

const isJournal = (found: unknown): found is Journal =>
  isObject(found) && typeof found.workspaceId === 'string' && typeof found.at === 'number' && Array.isArray(found.slotKeys)

const noUsage: Usage = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 }

/** The usage row of a request whose process has ended, and its bill, which is zero if no provider was called. */
export function interruptedRow(id: string, journal: Journal): { readonly row: UsageRow; readonly bill: Bill } {
  const { slotKeys: _, ancestors: __, budgets: ___, progress, metadata, ...facts } = journal
  const { usage = noUsage, bill = noBill, model = facts.model } = progress ?? {}
  const row: UsageRow = {
    ...facts,
    id,
    model,
    provider: progress?.provider ?? '',
    credential: progress?.credential ?? 'platform',
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cachedTokens: usage.cached_tokens,
    cacheWriteTokens: usage.cache_write_tokens,
    reasoningTokens: usage.reasoning_tokens,
    estimated: progress !== undefined,
    cost: bill.cost,
    byokCost: bill.byokCost,
    result: 'interrupted',
    attempts: progress?.attempts ?? 0,
    durationMs: progress?.durationMs ?? 0,
    firstContentMs: progress?.firstContentMs,
    warnings: [],
    metadata,
  }
  return { row, bill }
}
