import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { resolve } from 'node:path'

const folder = resolve(import.meta.dirname, '..')

/** A Markdown table with aligned columns: the first `left` ones to the left, the others to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], left = 1): string {
  const widths = head.map((title, index) => Math.max(3, title.length, ...rows.map(row => row[index]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, index) => (index < left ? (cells[index] ?? '').padEnd(width) : (cells[index] ?? '').padStart(width))).join(' | ')} |`
  const rule = `| ${widths.map((width, index) => (index < left ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

const machine = (): string => {
  const [cpu] = cpus()
  return `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${availableParallelism()} CPUs${cpu ? ` (${cpu.model.trim()})` : ''}`
}

/** Puts the result of a section between its markers on a page of packages/bench, or appends it if the page has none. */
export function publish(section: string, text: string, on: string): void {
  const page = resolve(folder, on)
  const [begin, end] = [`<!-- bench:${section} -->`, `<!-- /bench:${section} -->`]
  const old = readFileSync(page, 'utf8')
  const block = `${begin}\n\n${machine()}\n\n${text}\n\n${end}`
  const [from, to] = [old.indexOf(begin), old.indexOf(end)]
  writeFileSync(page, from === -1 || to === -1 ? `${old.trimEnd()}\n\n${block}\n` : old.slice(0, from) + block + old.slice(to + end.length))
}

/** `1.38 ✗`: a ratio, and whether it is within its maximum. */
export const against = (value: number, most: number): string => `${value.toFixed(2)} ${value <= most ? '✓' : '✗'}`
