import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** Any day that is long ago: package managers refuse what was published a moment ago. */
const published = '2026-01-01T00:00:00.000Z'

/** A registry of npm on 127.0.0.1 that has the tarballs of a folder, and everything else from another registry. */
export async function serveTarballs(folder: string, upstream: string): Promise<{ readonly url: string; close(): void }> {
  const packed = new Map(
    readdirSync(folder)
      .filter(file => file.endsWith('.tgz'))
      .map(file => {
        const bytes = readFileSync(join(folder, file))
        return [String(manifestIn(bytes).name), { file, bytes, manifest: manifestIn(bytes) }]
      }),
  )
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(request.url ?? '/').slice(1)
    const tarball = [...packed.values()].find(({ file }) => path === `-/${file}`)
    if (tarball) return void response.end(tarball.bytes)
    const own = packed.get(path)
    if (own) {
      const { version } = own.manifest as { readonly version: string }
      const dist = {
        tarball: `${url}/-/${own.file}`,
        shasum: createHash('sha1').update(own.bytes).digest('hex'),
        integrity: `sha512-${createHash('sha512').update(own.bytes).digest('base64')}`,
      }
      const body = {
        name: path,
        'dist-tags': { latest: version },
        versions: { [version]: { ...own.manifest, dist } },
        time: { [version]: published },
      }
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
    }
    try {
      const accept = request.headers.accept ?? '*/*'
      const found = await fetch(new URL(request.url ?? '/', upstream), { method: request.method ?? 'GET', headers: { accept } })
      response.writeHead(found.status, { 'content-type': found.headers.get('content-type') ?? 'application/json' })
      response.end(Buffer.from(await found.arrayBuffer()))
    } catch (error) {
      response.writeHead(502).end(String(error))
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** `package/package.json` of a tarball: files are blocks of 512 bytes behind a head that has their name and, in octal, their size. */
function manifestIn(tarball: Buffer): Readonly<Record<string, unknown>> {
  const tar = gunzipSync(tarball)
  for (let at = 0; at < tar.length; ) {
    const name = tar.toString('utf8', at, at + 100).replace(/\0.*$/s, '')
    const size = Number.parseInt(tar.toString('utf8', at + 124, at + 136), 8) || 0
    if (name === 'package/package.json') return JSON.parse(tar.toString('utf8', at + 512, at + 512 + size))
    at += 512 + Math.ceil(size / 512) * 512
  }
  throw new Error('The tarball has no package.json.')
}
