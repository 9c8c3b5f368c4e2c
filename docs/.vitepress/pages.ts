import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

// The pages of the site. docs/README.md is the index: its headings are the groups of the sidebar, and its links the entries.

/** The folder that has README.md, docs and examples. */
export const root = resolve(import.meta.dirname, '../..')

/** One page: a Markdown file of the repository. */
interface Page {
  /** The file below `root`. `docs/getting-started/node.md` */
  readonly file: string
  /** What the index calls it. */
  readonly text: string
}

/** A heading of the index with the pages below it. */
export interface PageGroup {
  readonly text: string
  readonly pages: readonly Page[]
}

export const indexPage = 'docs/README.md'

export const textOf = (file: string): string => readFileSync(join(root, file), 'utf8')

/** What a link on a page points to below `root`, without its anchor. Undefined for other sites. */
export function targetOf(page: string, link: string): { readonly file: string; readonly anchor: string } | undefined {
  if (/^[a-z]+:/.test(link)) return undefined
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? page : relative(root, resolve(root, dirname(page), path))
  const readme = join(target, 'README.md')
  return { file: existsSync(join(root, readme)) ? readme : target, anchor: anchor === undefined ? '' : `#${anchor}` }
}

const linksOn = (page: string, text = textOf(page)): readonly Page[] =>
  [...text.matchAll(/\[([^\]]+)\]\(([^)\s]+)\)/g)].flatMap(([, name = '', link = '']) => {
    const file = targetOf(page, link)?.file
    return file?.endsWith('.md') ? [{ file, text: name.replaceAll('`', '') }] : []
  })

/** The groups of the index. A page that is linked twice belongs to the first group, and the index of a folder brings its pages. */
export function pageGroups(): readonly PageGroup[] {
  const seen = new Set<string>([indexPage])
  return textOf(indexPage)
    .split(/^## /m)
    .slice(1)
    .map(part => {
      const linked = linksOn(indexPage, part).flatMap(page => {
        const folder = page.file === 'README.md' ? undefined : /^(.*\/)README\.md$/.exec(page.file)?.[1]
        return folder === undefined ? [page] : [page, ...linksOn(page.file).filter(({ file }) => file.startsWith(folder))]
      })
      const pages = linked.filter(({ file }) => isPage(file) && !seen.has(file) && seen.add(file))
      return { text: part.slice(0, part.indexOf('\n')), pages }
    })
}

const skipped: ReadonlySet<string> = new Set(['node_modules', '.vitepress', '.next', 'dist'])

const pagesBelow = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : pagesBelow(path)
    return entry.name.endsWith('.md') ? [path] : []
  })

/** Every page that the site is made of. */
export const pageFiles = (): readonly string[] =>
  [...readdirSync(root).filter(name => name.endsWith('.md')), ...pagesBelow('docs'), ...pagesBelow('examples')].sort()

/** Whether the site has a page of this file: measurements and the pages of packages are read in the repository. */
const isPage = (file: string): boolean => /^([^/]+|(docs|examples)\/.+)\.md$/.test(file)

/** Where a page is on the site: `docs/README.md` → `docs/index.md`, `examples/hono/README.md` → `examples/hono/index.md`. */
export const siteFile = (file: string): string => file.replace(/README\.md$/, 'index.md')

/** A link of a page as the site has it. Undefined where the site has no such page. */
export function siteLink(page: string, link: string): string | undefined {
  const target = targetOf(page, link)
  if (target === undefined || link.startsWith('#')) return link
  return isPage(target.file) ? `/${siteFile(target.file)}${target.anchor}` : undefined
}

/** A heading's anchor, as GitHub makes it. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
