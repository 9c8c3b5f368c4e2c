import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pageFiles, pageGroups, root, siteFile, textOf } from './pages.ts'

// What language models read of the site (https://llmstxt.org): llms.txt lists the pages, llms-full.txt holds them, and each page is there
// as Markdown beside its HTML.

/** Groups that are history: listed as optional, and not in llms-full.txt. */
const optional: ReadonlySet<string> = new Set(['Decisions'])

/** The first paragraph of README.md, without markup. */
const summary = (): string => /^\*\*([\s\S]*?)\n\n/m.exec(textOf('README.md'))?.[1]?.replaceAll('**', '').replaceAll('\n', ' ') ?? ''

/** The text of llms.txt. */
export function llmsText(): string {
  const groups = pageGroups().map(({ text, pages }) => {
    const lines = pages.map(page => `- [${page.text}](/${siteFile(page.file)})`)
    return `## ${optional.has(text) ? 'Optional' : text}\n\n${lines.join('\n')}`
  })
  return `# Signalbox\n\n> ${summary()}\n\n${groups.join('\n\n')}\n`
}

/** The text of llms-full.txt: every page but the optional ones. */
export function llmsFullText(): string {
  const pages = pageGroups().flatMap(({ text, pages: inGroup }) => (optional.has(text) ? [] : inGroup))
  return `${pages.map(({ file }) => `<!-- /${siteFile(file)} -->\n\n${textOf(file).trim()}`).join('\n\n')}\n`
}

/** Writes both, and the pages as Markdown. */
export function writeForModels(folder: string): void {
  writeFileSync(join(folder, 'llms.txt'), llmsText())
  writeFileSync(join(folder, 'llms-full.txt'), llmsFullText())
  for (const file of pageFiles()) {
    const copy = join(folder, siteFile(file))
    mkdirSync(dirname(copy), { recursive: true })
    cpSync(join(root, file), copy)
  }
}
