import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const folder = resolve(import.meta.dirname, '../dist/peer')

/** The gateway that ours is compared with, and the versions of its server that it can stream with; later ones break its headers. */
const pinned = { hono: '4.9.7', '@hono/node-server': '1.3.3' }
const dependencies = { '@portkey-ai/gateway': '1.15.2', ...pinned }

export const peer = { name: '@portkey-ai/gateway', version: dependencies['@portkey-ai/gateway'] } as const

/** The script that starts it. */
export const peerScript = join(folder, 'node_modules', peer.name, 'build/start-server.js')

/** Installs it next to the build output, so that nothing here depends on it. Runs none of its install scripts. */
export async function installPeer(): Promise<void> {
  if (isInstalled()) return
  process.stderr.write(`peers: installing ${peer.name}\n`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies, overrides: pinned }))
  await promisify(execFile)('npm', ['install', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund'], { cwd: folder })
}

function isInstalled(): boolean {
  return Object.entries(dependencies).every(([name, version]) => {
    try {
      return JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version === version
    } catch {
      return false
    }
  })
}
