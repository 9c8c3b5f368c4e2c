import type { Won } from '../execution/call.ts'
import type { Stage } from '../metering/meter.ts'
import type { InferenceRequest } from '../protocol/request.ts'
import type { Warning } from '../protocol/response.ts'
import { ceiling } from './ceiling.ts'
import type { Engine } from './infer.ts'
import { watchCalls } from './remarks.ts'
import { sealing } from './seal.ts'
import { asSummaries } from './summaries.ts'

export interface Passing {
  readonly request: InferenceRequest
  readonly won: Won
  readonly workspaceId: string
  /** The cap that was sent. */
  readonly cap: number | undefined
}

export interface Passage {
  readonly through: Stage
  /** What is to be told with the answer, as far as it has come. */
  readonly warnings: () => readonly Warning[]
}

/** What an answer goes through between its provider and the meter: the cap, a look at its calls, the telling of thoughts, the seal. Only what the request needs. */
export function passageOf({ ring, logger }: Pick<Engine, 'ring' | 'logger'>, { request, won, workspaceId, cap }: Passing): Passage {
  const { provider, offer } = won.candidate
  const hangUp = (): void => {
    logger.warn({ provider: provider.id, model: offer.provider_model_id, cap }, 'The provider ignores the output cap; its answer was cut.')
    // A source that throws when it is closed is closed all the same.
    won.events.return?.().catch(() => {})
  }
  const capped = cap === undefined ? undefined : ceiling(cap, hangUp)
  const calls = watchCalls(request.prompt)
  const retell = asSummaries(request.prompt, offer.dialect)
  const seal = sealing(won.candidate, { ring, logger, workspaceId })
  return {
    through(batch) {
      const kept = capped ? capped(batch) : batch
      calls?.look(kept)
      return seal(retell ? retell(kept) : kept)
    },
    warnings: () => (calls ? [...won.warnings, ...calls.warnings()] : won.warnings),
  }
}
