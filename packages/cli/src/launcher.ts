import { readFileSync } from 'node:fs'
import type { Environment } from './environment.ts'

/** What starts us in a clone: `npx -y pnpm@12 start`. */
const launcher = /^(?:\S*\/)?(?:node \S*\/)?(?:npx|npm|pnpm)(?:-cli)?(?:\.[cm]?js)?(?:\s|$)/
/** Each of them starts the next through a shell. */
const shell = /^(?:\S*\/)?(?:ba|da|z|k)?sh(?:\s|$)/
const lookMs = 250

interface Link {
  readonly child: number
  readonly parent: number
}

/**
 * npx dies of a signal and does not hand it on; what it started would go on as an orphan, and hold the port. So a server
 * that a package manager started ends with it. Linux tells of parents in /proc; elsewhere nothing is watched.
 */
export function watchLauncher(environment: Environment, gone: () => void): void {
  if (environment.npm_lifecycle_event === undefined) return
  const link = topmost()
  if (!link) return
  const timer = setInterval(() => {
    if (parentOf(link.child) === link.parent) return
    clearInterval(timer)
    gone()
  }, lookMs)
  timer.unref()
}

/** The topmost launcher above us, and the process by which we hang on it. */
function topmost(): Link | undefined {
  let found: Link | undefined
  let child = process.pid
  for (let parent = parentOf(child); parent !== undefined && parent > 1; child = parent, parent = parentOf(child)) {
    if (launcher.test(commandOf(parent))) found = { child, parent }
    else if (found && !shell.test(commandOf(parent))) break
  }
  return found
}

const read = (pid: number, what: 'stat' | 'cmdline'): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/${what}`, 'utf8')
  } catch {
    return undefined
  }
}

const commandOf = (pid: number): string => (read(pid, 'cmdline') ?? '').replaceAll('\0', ' ')

/** The fourth field; the second is a name in brackets that may hold anything. */
function parentOf(pid: number): number | undefined {
  const stat = read(pid, 'stat')
  const parent = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[1]
  return parent === undefined ? undefined : Number(parent)
}
