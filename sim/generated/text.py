"""The frame of the generated text: a class whose objects take a block of runs through rounds."""

_ROUND = """ private:
  template <class Number>
  FEDPROOF_INLINE const Number* list(int64_t place) const {{
    return static_cast<const Number*>(task.tables[place]);
  }}

  void prepare(int64_t k) {{
    (void)k;
    {hoisted}
    {bases}
  }}

  void round(int64_t k) {{
    (void)k;
{body}
  }}

  void record(int64_t k) {{
    if (task.record[k] >= 0) {{
      {records}
    }}
"""
"""What a round is, whoever takes part."""

FRAME = (
    """
namespace {{

class Rounds : public Block {{
 public:
  Rounds(const Task& task, int64_t first, int64_t last)
      : Block(task, first, last), functions(task.functions, task.sizes) {{
    {loads}
  }}

  void advance(int64_t begin, int64_t end) {{
    if (begin == task.first_column) record(begin);
    for (int64_t k = begin; k < end; k++) {{
      prepare(k);
      round(k);
      record(k + 1);
    }}
    {saves}
  }}

"""
    + _ROUND
    + """#if MEASURED
    measure(functions, k, [this](int64_t g) {{ return point(g); }});
#endif
  }}

  FEDPROOF_INLINE Point point(int64_t g) const {{ {point} }}

  const Functions functions;
  double u[{count}];
  {members}
}};

}}  // namespace

// Runs first..last - 1, `width` at a time.
extern "C" int program_advance(const Task* task, int64_t first, int64_t last, int64_t width, int64_t begin,
                               int64_t end) {{
  try {{
    for (; first < last; first += width)
      std::make_unique<Rounds>(*task, first, first + width < last ? first + width : last)->advance(begin, end);
    return 0;
  }} catch (const std::bad_alloc&) {{
    return 1;
  }}
}}
"""
)


OPEN_FRAME = (
    """
namespace along {{

class Rounds : public Block {{
 public:
  explicit Rounds(const Task& task) : Block(task), functions(task.functions, task.sizes, clients) {{}}

  void advance(int64_t r, int64_t first, int64_t last) {{
    begin(r, first == task.first_column ? first : first + 1);
    functions.begin();
    {loads}
    if (first == task.first_column) record(first);
    for (int64_t k = first; k < last; k++) {{
      gather(k);
      if (!taking.empty()) {{
        prepare(k);
        round(k);
      }}
      for (int64_t s = 0; s < clients; s++) {{
        const Slot n{{s, present(k + 1, s)}};
        if (n.client < 0 || n.client == present(k, s)) continue;
        {fresh}
      }}
      record(k + 1);
    }}
#if MEASURED
    if (task.metrics[1]) write_costs(functions);
#endif
    const int64_t k = last;
    {saves}
  }}

"""
    + _ROUND
    + """#if MEASURED
    look(k);
    measure(functions, k, point(0));
#endif
  }}

  FEDPROOF_INLINE Point point(int64_t g) const {{ {point} }}

  Functions functions;
  double u[{count}];
  {members}
}};

}}  // namespace along

extern "C" int program_advance(const Task* task, int64_t first, int64_t last, int64_t, int64_t begin, int64_t end) {{
  try {{
    const auto rounds = std::make_unique<along::Rounds>(*task);
    for (int64_t r = first; r < last; r++) rounds->advance(r, begin, end);
    return 0;
  }} catch (const std::bad_alloc&) {{
    return 1;
  }}
}}
"""
)
"""The same for an open population, one run after another."""


def measured_point(kind: str) -> str:
    """The point at which the metrics are taken: the first state, of the clients their mean."""
    if kind == "server":
        return "return m_0[g];"
    if kind == "client":
        return (
            "Point total = {}; for (int64_t n = 0; n < clients; n++) total = plus(total, m_0[g * clients + n]); "
            "return divided(total, (double)clients);"
        )
    return "(void)g; return Point{};"
