/**
 * Which rows of a long list are drawn. No browser needed.
 *
 * Browsers draw nothing beyond some 17 million pixels, and a million rows take 33 million. Beyond `heightMax` the list is therefore scrolled in
 * proportion, so that its last row can still be reached.
 */
export interface WindowOf {
  readonly rows: number
  /** Pixels. */
  readonly rowHeight: number
  readonly viewHeight: number
  readonly scrollTop: number
}

export interface RowsWindow {
  /** The first row that is drawn, and the one after the last. */
  readonly first: number
  readonly end: number
  /** Pixels before the first row, and after the last. */
  readonly before: number
  readonly after: number
}

export const heightMax = 8_000_000
/** Number of rows that are drawn beyond the visible ones, on either side. */
const beyond = 12

export const rowsWindow = ({ rows, rowHeight, viewHeight, scrollTop }: WindowOf): RowsWindow => {
  const height = Math.min(rows * rowHeight, heightMax)
  const seen = Math.ceil(viewHeight / rowHeight)
  const scrollMax = Math.max(1, height - viewHeight)
  const top = Math.min(Math.max(0, scrollTop), scrollMax)
  // In proportion. If the list is not too high, this is the same as `top / rowHeight`.
  const firstSeen = height < heightMax ? Math.floor(top / rowHeight) : Math.floor((top / scrollMax) * Math.max(0, rows - Math.floor(viewHeight / rowHeight)))
  const first = Math.max(0, firstSeen - beyond)
  const end = Math.min(rows, firstSeen + seen + beyond)
  const before = height < heightMax ? first * rowHeight : Math.max(0, top - (firstSeen - first) * rowHeight)
  return { first, end, before, after: Math.max(0, height - before - (end - first) * rowHeight) }
}
