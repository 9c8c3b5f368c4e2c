import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

// The agents are large programs: they are no dependencies, and come from npm into a cache folder when the long tests need them.

/** The versions that docs/agents.md shows. */
export const versions: Readonly<Record<string, string>> = {
  '@openai/codex': '0.169.0',
  '@anthropic-ai/claude-code': '2.1.330',
  'opencode-ai': '1.18.33',
}

const folder = resolve(import.meta.dirname, '../../../../node_modules/.cache/coding-agents')

const isInstalled = (name: string): boolean => {
  const file = join(folder, 'node_modules', name, 'package.json')
  return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).version === versions[name]
}

/** Installs what is not there yet. Returns the folder of the programs. */
export function installAgents(): string {
  const missing = Object.keys(versions).filter(name => !isInstalled(name))
  if (missing.length > 0) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: versions }))
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder, stdio: 'inherit' })
  }
  return join(folder, 'node_modules/.bin')
}
