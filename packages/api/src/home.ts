import type { ApiReply, ApiRequest } from './api.ts'
import type { Call } from './route.ts'

const documents = 'https://github.com/signalbox/signalbox/tree/main/docs'

/** Links of `GET /`. `base` is where the gateway is mounted. */
const linksFrom = (base: string) =>
  ({ documents, openapi: `${base}/v1/openapi.json`, models: `${base}/v1/models`, health: `${base}/healthz` }) as const

/** Says what answers here and where its API is: a page for browsers, JSON for others. */
export function home({ request, site }: Call): ApiReply {
  const base = `${request.mount ?? ''}${site.settings.basePath}`
  const links = linksFrom(base)
  const headers = { vary: 'accept', 'cache-control': 'no-store' }
  if (!wantsPage(request))
    return {
      status: 200,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Signalbox', ...links }),
    }
  return {
    status: 200,
    headers: {
      ...headers,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    },
    body: page(base, links),
  }
}

/** Browsers name the type; clients of an API take anything, or JSON. */
const wantsPage = ({ header }: ApiRequest): boolean => header('accept')?.includes('text/html') === true

const page = (base: string, links: ReturnType<typeof linksFrom>): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Signalbox</title>
<style>body { font: 1rem/1.6 system-ui, sans-serif; max-width: 36rem; margin: 10vh auto; padding: 0 1rem }</style>
<h1>Signalbox</h1>
<p>An LLM gateway. Clients call <code>${escaped(base)}/v1</code> and send an API key as <code>Authorization: Bearer ak_…</code>.</p>
<ul>
<li><a href="${escaped(links.documents)}">Documents</a>
<li><a href="${escaped(links.openapi)}">The API</a>, as an OpenAPI document
<li><a href="${escaped(links.models)}">The models</a> that a key may call
<li><a href="${escaped(links.health)}">Health</a>
</ul>
</html>
`

/** A text for HTML: the mount point is a path that a client sent. */
const escaped = (text: string): string => text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
