/** A group of bars: a title, and a value for each series. */
export interface Group {
  readonly title: string
  readonly values: readonly number[]
}

export interface Chart {
  readonly title: string
  readonly series: readonly string[]
  readonly groups: readonly Group[]
  /** The text next to a bar. */
  readonly label: (value: number) => string
}

const width = 820
const left = 150
const right = 60
const bar = 11
const gap = 16
const top = 64
const colours = ['#0a7d4f', '#d98c1f', '#b8b04a', '#7a6fd0', '#4a90c2', '#9a9a9a', '#c0c0c0']

const escaped = (text: string): string => text.replace(/[&<>]/g, sign => `&#${sign.charCodeAt(0)};`)

/** A bar chart as self-contained SVG that is readable on light and dark backgrounds. */
export function barChart({ title, series, groups, label }: Chart): string {
  const most = Math.max(...groups.flatMap(({ values }) => values), 1e-9)
  const scale = (value: number): number => (Math.max(0, value) / most) * (width - left - right)
  const high = series.length * bar
  const colour = (at: number): string => colours[at % colours.length] ?? '#888'
  const legend = series.map((name, index) => {
    const [x, y] = [left + (index % 4) * 160, 34 + Math.floor(index / 4) * 14]
    return `<rect x="${x}" y="${y - 8}" width="9" height="9" fill="${colour(index)}"/><text x="${x + 13}" y="${y}">${escaped(name)}</text>`
  })
  const bars = groups.map(({ title: name, values }, group) => {
    const y = top + group * (high + gap)
    const rows = values.map((value, index) => {
      const [row, length] = [y + index * bar, scale(value)]
      const text = `<text x="${(left + length + 4).toFixed(1)}" y="${row + 8}">${escaped(label(value))}</text>`
      return `<rect x="${left}" y="${row}" width="${length.toFixed(1)}" height="${bar - 2}" fill="${colour(index)}"/>${text}`
    })
    return `<text x="${left - 10}" y="${y + high / 2 + 3}" text-anchor="end" class="group">${escaped(name)}</text>${rows.join('')}`
  })
  const height = top + groups.length * (high + gap)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>text{font:10px system-ui,sans-serif;fill:#333}.title{font-size:14px;font-weight:600}.group{font-size:12px}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>
<text x="${left}" y="16" class="title">${escaped(title)}</text>
${[...legend, ...bars].join('\n')}
</svg>
`
}
