import { chatProvider } from '@signalbox/dialects'
import type { Credential, InferenceRequest, Provider } from '@signalbox/dialects/protocol'
import { memoryStorage } from '@signalbox/storage-memory'
import { expect, test } from 'vitest'
import { budget, createFixture, ownOf } from '../../../test/money/fixture.ts'
import { type Candidate, makeCandidate } from '../../routing/plan.ts'
import { runSteps } from '../../runtime/steps.ts'
import { admit } from './admit.ts'

const provider: Provider = { id: 'p', dialects: [chatProvider], endpoint: () => 'https://p.invalid/', authorize: () => {} }

const candidate = (credential: Credential, input: number, output: number): Candidate => {
  const offer = { provider: 'p', model: 'm', api: 'chat', price: { input, output } }
  return makeCandidate({ model: { id: 'm', offers: [offer] }, provider, offer, credential })
}

test('a budget that includes BYOK holds the cost of a BYOK and a platform credential called at the same time', async () => {
  const expensiveInput = candidate(ownOf('p'), 100_000_000, 0)
  const expensiveOutput = candidate({ id: 'ours', owner: 'platform', secret: '' }, 0, 1_000_000_000)
  const { engine } = createFixture({ budgets: [budget('both', { limit: 1e9, period: 'total', includeByok: true })] })
  const policy = await engine.policies.of('workspace')
  if (!policy) throw new Error('The fixture has a policy.')
  const caller = { keyId: 'k', keyName: 'K', keyPrefix: 'ak_', workspaceId: 'workspace', workspaceName: 'W', createdAt: 0 }
  const request: InferenceRequest = {
    prompt: { input: [], max_output_tokens: 1_000 },
    routing: { models: ['m'], allow_fallbacks: true },
    delivery: 'stream',
  }
  const held = async (...candidates: readonly [Candidate, ...Candidate[]]): Promise<number> => {
    const storage = memoryStorage()
    const { ledger } = storage
    await ledger.credit({ id: 'credit', account: 'credit:workspace', amount: 1e9, at: 0 })
    const plan = { candidates, excluded: [], strategy: 'balanced', ruling: 'balanced' } as const
    const bounds = { size: { likely: 1_000, max: 1_500 }, maxOutput: () => 1_000 }
    const facts = { requestId: 'r', inputTokens: 1_000, bounds, hedge: true, at: 0 }
    const asking = { ...facts, caller: { ...caller, billing: 'prepaid' as const, scopes: new Set<never>() }, policy, plan, request }
    await runSteps(admit(asking, { ...engine, storage }))
    return (await ledger.balance('budget:both')).held
  }
  expect(await held(expensiveInput)).toBeGreaterThan(0)
  // The candidate with free output adds its prompt once; its hold alone includes the prompt of a second, hedged call.
  expect(await held(expensiveInput, expensiveOutput)).toBe((await held(expensiveOutput)) + (await held(expensiveInput)) / 2)
})
