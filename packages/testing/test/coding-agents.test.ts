import { beforeAll, describe, expect, inject, test } from 'vitest'
import type { CodingAgent } from './coding-agents/agent.ts'
import { claudeCode } from './coding-agents/claude-code.ts'
import { codexAgents } from './coding-agents/codex.ts'
import { installAgents, versions } from './coding-agents/install.ts'
import { opencodeAgents } from './coding-agents/opencode.ts'
import { doTask } from './coding-agents/task.ts'
import { checkTable, writeMeasured } from './drivers/docs-table.ts'
import { languages } from './drivers/languages.ts'

// The programs themselves, with a provider of each dialect: docs/agents.md has the results. They are installed from npm, so they run in the long
// command only.

const agents = [...codexAgents, claudeCode, ...opencodeAgents]
const passed = new Set<string>()
/** The smallest share of a request that the next one repeats as its prefix, by agent and dialect. */
const leastShares = new Map<string, number>()
/** Milliseconds to the first byte of each answer, by program. */
const waits = new Map<string, readonly number[]>()

describe.skipIf(!inject('isLongRun'))('coding agents', () => {
  let programs = ''
  beforeAll(() => {
    programs = installAgents()
  }, 300_000)

  describe.each(agents.map(agent => [agent.name, agent] as const))('%s', (_, agent) => {
    test.each(languages)(
      'completes the task with a provider of $name',
      async language => {
        const observed = await doTask(agent, language, programs)
        expect(observed.errors).not.toMatch(/reconnecting/i)
        expect(observed.prefixes).toEqual([true, true, true, true, true])
        const [, ...later] = observed.warmTokens
        expect(Math.min(...later.slice(0, 5))).toBeGreaterThan(0)
        // One looks for a package of its own; it gets no answer.
        expect([...observed.hosts].filter(host => !host.startsWith('registry.'))).toEqual([])
        leastShares.set(`${agent.name} ${language.name}`, Math.min(...observed.shares))
        waits.set(agent.program, [...(waits.get(agent.program) ?? []), ...observed.waits])
        passed.add(`${agent.name} ${language.name}`)
      },
      300_000,
    )
  })

  /** `UPDATE_DOCS=1 pnpm test:long coding-agents` writes the table. */
  test('the table in docs/agents.md matches this run', () => {
    const head = `| agent | package | ${languages.map(({ name }) => name).join(' | ')} | structured result |\n|---|---|${languages.map(() => ':-:|').join('')}---|`
    checkTable('agents:programs', [head, ...agents.map(row)].join('\n'))
    const measured = ['| program | requests | median, ms | 99 of 100 within, ms | longest, ms |', '|---|--:|--:|--:|--:|']
    for (const [program, times] of waits) measured.push(measuredRow(program, times))
    writeMeasured('agents:first-byte', measured.join('\n'))
    const shares = [`| agent | ${languages.map(({ name }) => name).join(' | ')} |`, `|---|${languages.map(() => '--:|').join('')}`]
    for (const { name } of agents)
      shares.push(`| ${name} | ${languages.map(language => percent(leastShares.get(`${name} ${language.name}`))).join(' | ')} |`)
    writeMeasured('agents:prefixes', shares.join('\n'))
  })
})

const row = ({ name, package: from, result }: CodingAgent): string => {
  const cells = languages.map(language => (passed.has(`${name} ${language.name}`) ? '✓' : '✗'))
  return `| ${name} | \`${from}\` ${versions[from]} | ${cells.join(' | ')} | ${result ? '✓' : 'it has none'} |`
}

/** Rounded down: 100 % means all of it. */
const percent = (share = 0): string => `${(Math.floor(share * 1_000) / 10).toFixed(1)} %`

function measuredRow(program: string, times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  const within = (share: number): number => Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0)
  return `| \`${program}\` | ${sorted.length} | ${within(0.5)} | ${within(0.99)} | ${within(1)} |`
}
