import { relayed, titleOf } from './cases.ts'
import { measureRounds } from './measure-rounds.ts'
import { medianOf } from './numbers.ts'
import { installPeer, peer } from './peer.ts'
import { against, table } from './report.ts'
import type { Section } from './section.ts'
import { openLab } from './servers.ts'

/** Maximum CPU ratio, ours ÷ theirs. */
const targets = { whole: 0.33, streamed: 0.35, burst: 0.35 } as const

/** Busy connections, in the dialect that both pass through. */
const cases = relayed.filter(
  ({ client, provider, connections, perSecond }) =>
    client === 'chat' && provider === 'chat' && connections === 32 && perSecond === undefined,
)

/** CPU cost of a request here and in another gateway for Node, measured in turns on the same work. */
export const peers: Section = async ({ quick, only }) => {
  await installPeer()
  const lab = await openLab()
  try {
    const servers = [await lab.open('floor'), await lab.open('memory'), await lab.open('peer')]
    const rows: (readonly string[])[] = []
    for (const one of cases.filter(one => only.every(word => titleOf(one).includes(word)))) {
      process.stderr.write(`peers: ${titleOf(one)}\n`)
      const rounds = await measureRounds(one, { lab, servers, quick })
      const cpu = (['floor', 'memory', 'peer'] as const).map(kind => medianOf(rounds.map(round => round[kind].cpu)).toFixed(0))
      const [ours, theirs] = (['memory', 'peer'] as const).map(kind => medianOf(rounds.map(round => round[kind].perSecond)).toFixed(0))
      const ratio = medianOf(rounds.map(({ memory, peer }) => memory.cpu / peer.cpu))
      rows.push([titleOf(one), ...cpu, against(ratio, targets[one.delivery]), ours ?? '', theirs ?? ''])
    }
    return [
      `${peer.name} ${peer.version} beside Signalbox, both in front of the same provider. CPU of the server process, µs per request. Theirs checks no key, counts no limit and keeps no books; ours does, in memory, and writes its request log. Targets for ours ÷ theirs: whole ≤ ${targets.whole}, streamed ≤ ${targets.streamed}.`,
      table(['case', 'floor', 'ours', 'theirs', 'ours ÷ theirs', 'ours /s', 'theirs /s'], rows),
    ].join('\n\n')
  } finally {
    await lab.close()
  }
}
