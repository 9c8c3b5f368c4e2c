import { type Rule, rules } from './exclude.ts'
import type { Question } from './needs.ts'
import type { Candidate, Excluded } from './plan.ts'
import { type Yielding, yielding } from './yield.ts'

export interface Sifted {
  readonly able: readonly Candidate[]
  readonly excluded: readonly Excluded[]
}

/** Who can serve the request, in the order given, and who cannot, each with its reason. */
export function sift(candidates: readonly Candidate[], question: Question): Sifted {
  const excluded: Excluded[] = []
  let able: Candidate[] = []
  const asked = rules.filter(rule => rule.asked(question))
  for (const candidate of candidates) {
    const rule = speaking(asked, candidate, question)
    if (rule) excluded.push(excludedBy(rule, candidate, question))
    else able.push(candidate)
  }
  for (const rule of yielding) {
    if (able.length < 2 || !rule.asked(question)) continue
    const yielded = yieldedBy(rule, able, question)
    if (yielded.size === 0) continue
    for (const candidate of yielded) excluded.push(excludedBy(rule, candidate, question))
    able = able.filter(candidate => !yielded.has(candidate))
  }
  return { able, excluded }
}

/** Every request passes here with every candidate, so it costs no closure. */
function speaking(asked: readonly Rule[], candidate: Candidate, question: Question): Rule | undefined {
  for (const rule of asked) if (rule.unmet(candidate, question)) return rule
  return undefined
}

function yieldedBy({ to, unmet }: Yielding, able: readonly Candidate[], question: Question): ReadonlySet<Candidate> {
  const failing = new Set(able.filter(candidate => unmet(candidate, question)))
  if (failing.size === 0) return failing
  const better = able.filter(candidate => !failing.has(candidate))
  if (to === 'anybody') return better.length > 0 ? failing : new Set()
  return new Set([...failing].filter(({ model }) => better.some(other => other.model === model)))
}

function excludedBy({ code, param, reason }: Rule, candidate: Candidate, question: Question): Excluded {
  const words = typeof reason === 'string' ? reason : reason(candidate, question)
  const field = param?.startsWith(routingPath) ? param.slice(routingPath.length) : undefined
  const isDefault = field !== undefined && question.defaulted?.has(field) === true
  return {
    model: candidate.model.id,
    provider: candidate.provider.id,
    provider_model_id: candidate.offer.provider_model_id,
    code,
    // A field that the request does not have is not the one to name.
    reason: isDefault ? words.replaceAll(`\`${param}\``, `\`${field}\` of the workspace's routing defaults`) : words,
    ...(param !== undefined && !isDefault && { param }),
  }
}

const routingPath = 'gateway.routing.'
