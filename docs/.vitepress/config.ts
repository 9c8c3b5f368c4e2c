import { relative } from 'node:path'
import { defineConfig, type MarkdownRenderer } from 'vitepress'
import { writeForModels } from './llms.ts'
import { anchorOf, pageFiles, pageGroups, root, siteFile, siteLink } from './pages.ts'

const groups = pageGroups()
/** Groups of the sidebar that are open at first. */
const open: ReadonlySet<string> = new Set(groups.slice(0, 3).map(({ text }) => text))

type MarkdownState = Parameters<Parameters<MarkdownRenderer['core']['ruler']['push']>[1]>[0]

/** Links lead to pages of the site; what is no page, such as a folder of sources, is plain text. */
function pointLinksAtSite({ tokens, env }: MarkdownState): void {
  const page = relative(root, env.realPath ?? env.path)
  for (const { children } of tokens) {
    let isDropped = false
    for (const token of children ?? []) {
      if (token.type === 'link_open') {
        const link = siteLink(page, token.attrGet('href') ?? '')
        isDropped = link === undefined
        if (link !== undefined) token.attrSet('href', link)
      }
      if (isDropped && token.type.startsWith('link_')) Object.assign(token, { type: 'text', tag: '', content: '' })
    }
  }
}

/** The front page: the name and where to begin, above the text of README.md. */
const home = {
  layout: 'home',
  hero: {
    name: 'Signalbox',
    text: 'An LLM gateway in your TypeScript app',
    tagline: 'One API for all providers, with fallbacks, API keys, budgets and credit, in your process and your database.',
    actions: [
      { theme: 'brand', text: 'Start', link: '/docs/embed' },
      { theme: 'alt', text: 'All pages, by task', link: '/docs/' },
    ],
  },
}

export default defineConfig({
  title: 'Signalbox',
  description: 'An LLM gateway that you embed in your TypeScript app.',
  // The pages are the repository's own, so that they read the same there.
  srcDir: '..',
  srcExclude: ['packages/**', '**/.next/**'],
  rewrites: Object.fromEntries(pageFiles().map(file => [file, siteFile(file)])),
  lastUpdated: false,
  transformPageData: page => (page.relativePath === 'index.md' ? { frontmatter: { ...page.frontmatter, ...home } } : undefined),
  markdown: {
    anchor: { slugify: anchorOf },
    config: md => void md.core.ruler.push('site-links', pointLinksAtSite),
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Documentation', link: '/docs/' },
      { text: 'Options', link: '/docs/options' },
      { text: 'API', link: '/docs/api' },
      { text: 'Changelog', link: '/docs/changelog' },
    ],
    sidebar: groups.map(({ text, pages }) => ({
      text,
      collapsed: !open.has(text),
      items: pages.map(page => ({ text: page.text, link: `/${siteFile(page.file).replace(/(index)?\.md$/, '')}` })),
    })),
  },
  buildEnd: ({ outDir }) => writeForModels(outDir),
})
