import { clientFacts, type OutputLosses, outputLosses } from '@signalbox/dialects/clients'
import type {
  InferenceEvent,
  InferenceRequest,
  InferenceResponse,
  Item,
  Outcome,
  Prompt,
  ProviderDialect,
  ReasoningItem,
  TextPart,
  Warning,
} from '@signalbox/dialects/protocol'
import { type DialectName, fold, originalOf, own, remember, unfold } from '@signalbox/dialects/protocol'
import type { Awaitable } from '@signalbox/storage'
import { isPromise } from '@signalbox/storage/awaitable'
import type { ItemOwner } from '../../access/caller.ts'
import type { Logger } from '../../runtime/ports.ts'
import type { KeyRing } from '../../runtime/seal.ts'
import type { CommittedAttempt } from '../../upstream/attempt.ts'
import type { EventBatch } from '../../upstream/event-batches.ts'
import { itemSealer, sealBatch } from '../reasoning-state/seal-items.ts'
import { OutputCutter } from './output-cutter.ts'

export interface PipelinePorts {
  readonly ring: KeyRing
  readonly logger: Logger
}

export interface PipelineContext {
  readonly request: InferenceRequest
  /** The original request, which has the client dialect. */
  readonly originalRequest: InferenceRequest
  readonly committed: CommittedAttempt
  readonly caller: ItemOwner
  /** The cap on output tokens that was sent. */
  readonly cap: number | undefined
}

/**
 * The steps between the provider's response and the meter: enforcing the output cap, checking tool calls and content that the client
 * dialect cannot express, turning raw reasoning into summaries, and sealing reasoning state.
 */
export interface ResponsePipeline {
  readonly batch: (batch: EventBatch) => Awaitable<EventBatch>
  readonly whole: (response: InferenceResponse) => Awaitable<InferenceResponse>
  /** Warnings for the response so far. */
  readonly warnings: () => readonly Warning[]
}

/** Creates a pipeline with only the steps that the request needs. */
export function responsePipeline(
  ports: PipelinePorts,
  { request, originalRequest, committed, caller, cap }: PipelineContext,
): ResponsePipeline {
  const { ring, logger } = ports
  const { candidate, warnings } = committed
  const { offer, dialect } = candidate
  const cutter = cap === undefined ? undefined : cutterOf(committed, cap, logger)
  const { tools, reasoning } = request.prompt
  const calls = tools && watchCalls(request.prompt)
  const summaries = reasoning?.summary ? summaryRewriter(request.prompt, dialect) : undefined
  const sent = new SentContent(originalRequest, offer.api)
  return {
    batch(batch) {
      const kept = cutter ? cutter.cut(batch) : batch
      calls?.look(kept)
      let visible = kept
      let hasReasoning = false
      for (let at = 0; at < kept.length; at += 1) {
        const event = kept[at] as InferenceEvent
        if (event.type === 'delta') continue
        if ('item' in event) hasReasoning ||= event.item.type === 'reasoning'
        if (event.type === 'item_finished') sent.note(event.item)
        else if (event.type === 'finished') {
          sent.outcome = event.outcome
          if (sent.losses || event.unmodeled) visible = sent.withSentence(kept, event)
        }
      }
      const shown = summaries ? summaries.batch(visible) : visible
      return hasReasoning ? sealBatch(itemSealer(candidate, { ring, logger, owner: caller }), shown) : shown
    },
    whole(response) {
      const { usage } = response
      // The usage of a whole response is known though its text is cut.
      const kept = cutter?.isTooLong(response) ? { ...fold(cutter.cut(unfold(response))), ...(usage && { usage }) } : response
      calls?.lookAt(kept.output)
      for (const item of kept.output) sent.note(item)
      sent.outcome = kept.outcome
      const visible = sent.losses || kept.unmodeled ? fold(sent.withSentence(unfold(kept), kept)) : kept
      const shown = summaries ? withOutput(visible, visible.output.map(summaries.item)) : visible
      const hasReasoning = shown.output.some(({ type }) => type === 'reasoning')
      return hasReasoning ? sealWhole(itemSealer(candidate, { ring, logger, owner: caller }), shown) : shown
    },
    warnings: () => {
      const { outcome, losses } = sent
      const reason = outcome?.status === 'completed' ? outcome.unknown_reason : undefined
      if (!calls && !losses && reason === undefined) return warnings
      const added = [
        ...(calls?.warnings() ?? []),
        ...(losses?.warnings() ?? []),
        ...(reason === undefined ? [] : [unknownReasonWarning(reason)]),
      ]
      return added.length > 0 ? [...warnings, ...added] : warnings
    },
  }
}

function cutterOf({ candidate: { provider, offer }, answer }: CommittedAttempt, cap: number, logger: Logger): OutputCutter {
  const onCut = (): void =>
    logger.warn({ provider: provider.id, model: offer.model, cap }, 'The provider ignored the output limit; its response was cut.')
  const close = (): EventBatch => ('stream' in answer ? answer.stream.close() : [])
  return new OutputCutter(cap, { onCut, close })
}

const unknownReasonWarning = (reason: string): Warning => ({
  code: 'unknown_finish_reason',
  message: `The provider ended the response for the reason ${JSON.stringify(reason)}, which is not known here; it was taken as complete.`,
})

/** What has been sent of a response, and what of it the client's dialect cannot express. */
class SentContent {
  readonly #client: string
  readonly #provider: DialectName
  #items = 0
  /** Whether no text and no call was sent. */
  #isEmpty = true
  /** Undefined until the first item that some dialect cannot express. */
  losses: OutputLosses | undefined
  /** Set at the end of the response. */
  outcome: Outcome | undefined

  constructor(request: InferenceRequest, provider: DialectName) {
    this.#client = originalOf(request)?.dialect ?? ''
    this.#provider = provider
  }

  /** Records an item. Every dialect can express text messages, calls and reasoning, so only other items are checked for losses. */
  note(item: Item): void {
    this.#items += 1
    let isPlain = item.type !== 'native' && item.type !== 'function_call_output'
    if (item.type === 'function_call') this.#isEmpty = false
    else if (item.type === 'message') {
      for (const part of item.content) {
        if (part.type === 'refusal' || (part.type === 'text' && part.text !== '')) this.#isEmpty = false
        if (part.type !== 'refusal' && (part.type !== 'text' || part.annotations)) isPlain = false
      }
    }
    if (!isPlain) this.#lossesOf()?.look(item)
  }

  #lossesOf(): OutputLosses | undefined {
    const client = own(clientFacts, this.#client)
    if (client?.outputFidelity) this.losses ??= outputLosses(client, this.#provider)
    return this.losses
  }

  /** Inserts a message before the end if the client would otherwise not see that something is missing. */
  withSentence(batch: EventBatch, { outcome, unmodeled }: Pick<InferenceResponse, 'outcome' | 'unmodeled'>): EventBatch {
    const losses = this.#lossesOf()
    if (unmodeled) losses?.lookBeside(unmodeled)
    const text = outcome.status === 'completed' ? losses?.sentence(this.#isEmpty) : undefined
    if (text === undefined) return batch
    const content: readonly TextPart[] = [{ type: 'text', text }]
    const item: Item = { type: 'message', role: 'assistant', content, status: 'completed' }
    const message = unfold({ id: '', model: '', created_at: 0, output: [item], outcome }).flatMap(
      (event): EventBatch => ('index' in event ? [{ ...event, index: this.#items }] : []),
    )
    return batch.flatMap(event => (event.type === 'finished' ? [...message, event] : [event]))
  }
}

const withOutput = (response: InferenceResponse, output: readonly Item[]): InferenceResponse =>
  output.every((item, index) => item === response.output[index]) ? response : remember({ ...response, output }, originalOf(response))

function sealWhole(seal: (item: Item) => Awaitable<Item>, response: InferenceResponse): Awaitable<InferenceResponse> {
  if (response.output.length > itemsAtOnce) return sealInParts(seal, response)
  const output = response.output.map(seal)
  return output.some(isPromise)
    ? Promise.all(output).then(sealed => withOutput(response, sealed))
    : withOutput(response, output as readonly Item[])
}

/** Items sealed in one turn of the event loop. Sealing one takes about 20 µs. */
const itemsAtOnce = 500

async function sealInParts(seal: (item: Item) => Awaitable<Item>, response: InferenceResponse): Promise<InferenceResponse> {
  const output: Item[] = []
  for (let at = 0; at < response.output.length; at += itemsAtOnce)
    output.push(...(await Promise.all(response.output.slice(at, at + itemsAtOnce).map(seal))))
  return withOutput(response, output)
}

/** Finds tool calls in a response that the request did not allow. They are sent with a warning. */
interface CallWatch {
  look(batch: EventBatch): void
  /** The same for complete items. */
  lookAt(items: readonly Item[]): void
  /** One warning for each kind of call found so far. */
  warnings(): readonly Warning[]
}

/** Maximum number of names in one warning. */
const maxListedNames = 5

/** Undefined if the request has no tools. Hosted tools may add functions with any name, so together with one, every name is allowed. */
export function watchCalls({ tools = [], parallel_tool_calls }: Prompt): CallWatch | undefined {
  if (tools.length === 0) return undefined
  const offered = tools.every(tool => tool.type === 'function') ? new Set(tools.map(({ name }) => name)) : undefined
  const strange = new Set<string>()
  let calls = 0
  const lookAtItem = (item: Item): void => {
    if (item.type !== 'function_call') return
    calls += 1
    if (offered && !offered.has(item.name) && strange.size < maxListedNames) strange.add(item.name)
  }
  return {
    look: batch => {
      for (const event of batch) if (event.type === 'item_finished') lookAtItem(event.item)
    },
    lookAt: items => items.forEach(lookAtItem),
    warnings: () => [
      ...(strange.size > 0 ? [notOffered([...strange])] : []),
      ...(calls > 1 && parallel_tool_calls === false ? [inParallel(calls)] : []),
    ],
  }
}

const notOffered = (names: readonly string[]): Warning => ({
  code: 'tool_not_offered',
  message: `The model called ${names.map(name => JSON.stringify(name.slice(0, 100))).join(', ')}, which is not in the tools of the request.`,
  param: 'tools',
})

const inParallel = (calls: number): Warning => ({
  code: 'parallel_tool_calls_ignored',
  message: `The model made ${calls} tool calls at once, though \`parallel_tool_calls\` is false.`,
  param: 'parallel_tool_calls',
})

/** Turns raw reasoning into summaries. */
interface SummaryRewriter {
  readonly batch: (batch: readonly InferenceEvent[]) => readonly InferenceEvent[]
  readonly item: (item: Item) => Item
}

/**
 * Turns raw reasoning into the summary that the client requested, because many clients show only summaries. Undefined if no summary was
 * requested or the dialect has its own summaries.
 */
export function summaryRewriter({ reasoning }: Prompt, dialect: ProviderDialect | undefined): SummaryRewriter | undefined {
  const isWanted = reasoning?.summary !== undefined && reasoning.summary !== 'none'
  return isWanted && !dialect?.hasReasoningSummaries ? rewriter : undefined
}

const rewriter: SummaryRewriter = {
  batch: batch => (batch.some(isRaw) ? batch.map(rewriteEvent) : batch),
  item: item => (isRawItem(item) ? withSummary(item) : item),
}

const isRaw = (event: InferenceEvent): boolean => {
  if (event.type === 'delta') return event.delta.kind === 'reasoning'
  return (event.type === 'item_finished' || event.type === 'item_started') && isRawItem(event.item)
}

const isRawItem = (item: Item): item is ReasoningItem =>
  item.type === 'reasoning' && item.content !== undefined && item.summary.length === 0

function rewriteEvent(event: InferenceEvent): InferenceEvent {
  if (event.type === 'delta' && event.delta.kind === 'reasoning') return { ...event, delta: { ...event.delta, kind: 'summary' } }
  if ((event.type !== 'item_finished' && event.type !== 'item_started') || !isRawItem(event.item)) return event
  return { ...event, item: withSummary(event.item) }
}

function withSummary({ content = [], ...item }: ReasoningItem): ReasoningItem {
  return { ...item, summary: content }
}
