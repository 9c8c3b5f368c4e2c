import { beforeAll, describe, expect, test } from 'vitest'
import type { CodingAgent } from './coding-agents/agent.ts'
import { claudeCode } from './coding-agents/claude-code.ts'
import { codexAgents } from './coding-agents/codex.ts'
import { installAgents, versions } from './coding-agents/install.ts'
import { opencodeAgents } from './coding-agents/opencode.ts'
import { doTask } from './coding-agents/task.ts'
import { checkTable, writeMeasured } from './drivers/docs-table.ts'
import { providerTraits } from './drivers/provider-traits.ts'

// The programs themselves, with a provider of each dialect: docs/agents.md has the results. They are installed from npm, so they run in the long
// command only.

const agents = [...codexAgents, claudeCode, ...opencodeAgents]
const passed = new Set<string>()
/** The smallest share of a request that the next one repeats as its prefix, by agent and dialect. */
const leastShares = new Map<string, number>()
/** Milliseconds to the first byte of each answer, by program. */
const waits = new Map<string, readonly number[]>()

describe('coding agents', () => {
  let programs = ''
  beforeAll(() => {
    programs = installAgents()
  }, 300_000)

  describe.each(agents.map(agent => [agent.name, agent] as const))('%s', (_, agent) => {
    test.each(providerTraits)(
      'completes the task with a provider of $name',
      async traits => {
        const observed = await doTask(agent, traits, programs)
        expect(observed.errors).not.toMatch(/reconnecting/i)
        expect(observed.prefixes).toEqual([true, true, true, true, true])
        const [, ...later] = observed.warmTokens
        expect(Math.min(...later.slice(0, 5))).toBeGreaterThan(0)
        // One looks for a package of its own; it gets no answer.
        expect([...observed.hosts].filter(host => !host.startsWith('registry.'))).toEqual([])
        leastShares.set(`${agent.name} ${traits.name}`, Math.min(...observed.shares))
        waits.set(agent.program, [...(waits.get(agent.program) ?? []), ...observed.waits])
        passed.add(`${agent.name} ${traits.name}`)
      },
      300_000,
    )
  })

  /** `UPDATE_DOCS=1 pnpm test:long coding-agents` writes the table. */
  test('the table in docs/agents.md matches this run', () => {
    const head = `| agent | package | ${providerTraits.map(({ name }) => name).join(' | ')} | structured result |\n|---|---|${providerTraits.map(() => ':-:|').join('')}---|`
    checkTable('agents:programs', [head, ...agents.map(row)].join('\n'))
    const measured = ['| program | requests | median, ms | 99 of 100 within, ms | longest, ms |', '|---|--:|--:|--:|--:|']
    for (const [program, times] of waits) measured.push(measuredRow(program, times))
    writeMeasured('agents:first-byte', measured.join('\n'))
    const shares = [
      `| agent | ${providerTraits.map(({ name }) => name).join(' | ')} |`,
      `|---|${providerTraits.map(() => '--:|').join('')}`,
    ]
    for (const { name } of agents)
      shares.push(`| ${name} | ${providerTraits.map(traits => percent(leastShares.get(`${name} ${traits.name}`))).join(' | ')} |`)
    writeMeasured('agents:prefixes', shares.join('\n'))
  })
})

const row = ({ name, package: from, result }: CodingAgent): string => {
  const cells = providerTraits.map(traits => (passed.has(`${name} ${traits.name}`) ? '✓' : '✗'))
  return `| ${name} | \`${from}\` ${versions[from]} | ${cells.join(' | ')} | ${result ? '✓' : 'it has none'} |`
}

/** Rounded down: 100 % means all of it. */
const percent = (share = 0): string => `${(Math.floor(share * 1_000) / 10).toFixed(1)} %`

function measuredRow(program: string, times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  const within = (share: number): number => Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0)
  return `| \`${program}\` | ${sorted.length} | ${within(0.5)} | ${within(0.99)} | ${within(1)} |`
}
