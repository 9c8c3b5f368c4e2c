import { admitEarly, countManagement, refusedReply, runRequest, unavailableErrors } from '@signalbox/core/request'
import type { StrategyName } from '@signalbox/core/routing'
import { consoleLogger, createReadinessCheck, outageNotices, webClock, webIds, webTransport } from '@signalbox/core/runtime'
import { clientLoaders, responsesClient } from '@signalbox/dialects/clients'
import type { DialectName, Provider } from '@signalbox/dialects/protocol'
import type { Workspace, Workspaces } from '@signalbox/workspaces'
import { repliesOf, tellKeyless } from '@signalbox/workspaces'
import { checkOptions } from './check-options.ts'
import { closeGateway } from './close-gateway.ts'
import type { Gateway } from './gateway.ts'
import { type BasePorts, createParts, type GatewayParts } from './gateway-parts.ts'
import { type Endpoints, endpointsOf } from './in-process/endpoints.ts'
import { defaultLimits, type GatewayOptions, type KnownDialects, type KnownProviders } from './options.ts'
import { createSetup } from './setup.ts'

/**
 * Creates a gateway from providers, models and a storage.
 *
 * @example
 * const gateway = createGateway({ providers: [openai({ apiKey })], models, storage: memoryStorage() })
 * @throws {TypeError} An option has an invalid value; the message names the option, the value, and the accepted values. Or the runtime is
 *   older than `engines` requires.
 */
export function createGateway<
  const ModelId extends string = string,
  const OfferedBy extends string = string,
  const ProviderId extends string = string,
  const OwnStrategy extends string = never,
  const OfferedIn extends DialectName = DialectName,
  const Providers extends readonly Provider[] = readonly Provider[],
>(
  options: GatewayOptions<ModelId, OfferedBy, ProviderId, OwnStrategy, OfferedIn> & { readonly providers: Providers } & KnownProviders<
      OfferedBy,
      ProviderId
    > &
    KnownDialects<OfferedIn, Providers[number]>,
): Gateway<ModelId, StrategyName | OwnStrategy> {
  checkRuntime()
  checkOptions(options)
  return assembleGateway(options) as Gateway<ModelId, StrategyName | OwnStrategy>
}

/** Without this check, an old runtime would fail in the middle of a request with an error that does not name the reason. */
function checkRuntime(): void {
  if (typeof Map.groupBy === 'function') return
  throw new TypeError('createGateway: this runtime has no `Map.groupBy`. Signalbox needs Node 22.19 or newer.')
}

function assembleGateway(options: GatewayOptions): Gateway {
  const base: BasePorts = {
    options,
    storage: options.storage,
    clock: options.clock ?? webClock(),
    ids: options.ids ?? webIds(),
    logger: options.logger ?? consoleLogger(),
    limits: { ...defaultLimits, ...options.limits },
    transport: options.transport ?? webTransport(),
  }
  const parts = createParts(base)
  const { storage, clock, ids, logger, limits } = base
  const dialectLoaders = clientLoaders()
  const setupRuns = createSetup({ setup: options.setup, workspaces: parts.management.workspacesOfSetup, clock, logger })
  const setUp = setupRuns.beforeRequest
  const workspaces = parts.management.workspacesAfter(setUp)
  const gateway: Omit<Gateway, keyof Endpoints> = {
    ownedBy: options.ownedBy ?? 'signalbox',
    limits,
    clock,
    ids,
    logger,
    dialects: { responses: responsesClient },
    dialectLoaders,
    models: parts.models,
    decisionLog: parts.decisionLog,
    replies: repliesOf({ storage, records: parts.records, clock, logger }),
    isShared: storage.isShared,
    ready: setupRuns.beforeStart,
    workspaces: Object.assign(
      wakingFirst(() => parts.collector.wake(options.waitUntil), workspaces),
      workspaces,
    ),
    resealCredentials: parts.byok.reseal,
    ...callerVerbs(base, parts, setUp),
    ...inferenceVerbs(base, parts, setUp),
  }
  return { ...gateway, ...endpointsOf({ responses: responsesClient, ...dialectLoaders }, gateway) }
}

/** Runs `setup` as part of the readiness check, so that a ready process can serve its first request. */
const setupProblems = async (setUp: () => Promise<void> | undefined): Promise<readonly string[]> => {
  try {
    await setUp()
    return []
  } catch {
    return ['`setup` failed; see the log.']
  }
}

/** Wakes the hold collector on management calls too, so that interrupted requests are settled even if no new request arrives. */
const wakingFirst =
  (wake: () => void, workspaces: Workspaces) =>
  (...[workspaceId, actor]: Parameters<Workspaces>): Workspace => {
    wake()
    return workspaces(workspaceId, actor)
  }

type CallerVerbs = Pick<Gateway, 'authenticate' | 'identity' | 'countManagement' | 'plan' | 'callableOffers' | 'fidelity'>

/** The operations of a caller other than inference. Code that few requests need is loaded on first use. */
function callerVerbs(base: BasePorts, parts: GatewayParts, setUp: () => Promise<void> | undefined): CallerVerbs {
  const { storage, clock, limits, options } = base
  const { authenticator, policies, planning, engine, collector } = parts
  return {
    async authenticate(proof) {
      const settingUp = setUp()
      if (settingUp) await settingUp
      return authenticator.authenticate(proof)
    },
    async identity(caller) {
      collector.wake(options.waitUntil)
      return (await import('./lazy-imports.ts')).identityOf({ storage, terms: policies, limits, clock }, caller)
    },
    countManagement: (caller, kind) => countManagement(engine, caller, kind),
    plan: async (request, caller, more) => (await import('./lazy-imports.ts')).planRequest(engine, request, { ...more, caller }),
    callableOffers: async caller => (await import('./lazy-imports.ts')).callableOffers(engine, caller),
    fidelity: async (request, model) => (await import('./lazy-imports.ts')).fidelityOfModel(request, model, planning),
  }
}

type InferenceVerbs = Pick<Gateway, 'admitEarly' | 'countTokens' | 'infer' | 'compact' | 'health' | 'isClosing' | 'close'>

/** Inference and shutdown. A closed gateway refuses inference. */
function inferenceVerbs(
  { options, storage, clock, ids, logger }: BasePorts,
  parts: GatewayParts,
  setUp: () => Promise<void> | undefined,
): InferenceVerbs {
  const { engine, collector, settlements, byok, authenticator, sharing, ring } = parts
  // With a sealing key, workspaces may add BYOK keys, so missing platform keys are not reported.
  const isKeyless = !options.sealingKey && tellKeyless(options.models, options.providers, logger)
  const storageProblems = createReadinessCheck({ ping: () => storage.ping(), clock, logger })
  let isClosing = false
  const problems = async (): Promise<readonly string[]> => {
    if (isClosing) return ['The gateway is shutting down.']
    collector.wake(options.waitUntil)
    if (settlements.isLong()) return ['Too many settlements are waiting for the storage.']
    if (isKeyless) return ['No provider has a key.']
    const storageFaults = await storageProblems()
    return storageFaults.length > 0 ? storageFaults : setupProblems(setUp)
  }
  const verbs: InferenceVerbs = {
    async admitEarly(caller, requestId) {
      if (isClosing) throw unavailableErrors.shuttingDown()
      return admitEarly(engine, caller, requestId)
    },
    async countTokens(request, caller, counting) {
      if (isClosing) throw unavailableErrors.shuttingDown()
      return (await import('./lazy-imports.ts')).countRequestTokens(engine, request, { ...counting, caller })
    },
    infer(request, call) {
      const requestId = call.requestId ?? ids.uuid()
      if (isClosing) return refusedReply(unavailableErrors.shuttingDown(), clock)
      const waitUntil = call.waitUntil ?? options.waitUntil
      collector.wake(waitUntil)
      if (settlements.isLong()) return refusedReply(unavailableErrors.overdue(), clock)
      return runRequest(engine, request, { ...call, requestId, waitUntil })
    },
    compact: async (request, call) => (await import('./lazy-imports.ts')).compact({ infer: verbs.infer, ring }, request, call),
    health: async () => ({ problems: await problems(), notices: [...outageNotices(storage), ...engine.usageNotices.notices()] }),
    isClosing: () => isClosing,
    async close({ graceMs = 0 } = {}) {
      isClosing = true
      await closeGateway({ ports: engine, collector, settlements, byok, authenticator, sharing }, graceMs)
    },
  }
  return verbs
}
