// Names of persons: 200, each once.
#include "examples/train_tiny_r1/word_tables.h"

namespace minitorch::train_tiny_r1 {
namespace {

constexpr std::string_view kFemaleNames[] = {
    "Ada",   "Agnes",  "Alice",  "Amelia", "Amina",  "Amy",    "Anita",  "Anna",    "April",   "Astrid",
    "Aylin", "Bella",  "Beth",   "Bianca", "Brenda", "Camila", "Carla",  "Carmen",  "Cecilia", "Chiara",
    "Chloe", "Claire", "Cora",   "Daisy",  "Dana",   "Daria",  "Diana",  "Dora",    "Edith",   "Elena",
    "Elisa", "Ella",   "Elsa",   "Emily",  "Emma",   "Erika",  "Esther", "Eva",     "Fatima",  "Fiona",
    "Flora", "Freya",  "Gina",   "Grace",  "Greta",  "Hannah", "Hazel",  "Heidi",   "Helen",   "Ida",
    "Ines",  "Ingrid", "Irene",  "Iris",   "Ivy",    "Jana",   "Jane",   "Jasmine", "Joan",    "Judith",
    "Julia", "Kate",   "Keiko",  "Laila",  "Lara",   "Laura",  "Lena",   "Leonie",  "Lily",    "Linda",
    "Lucy",  "Luna",   "Mabel",  "Maria",  "Martha", "Maya",   "Mia",    "Mila",    "Mina",    "Nadia",
    "Nina",  "Nora",   "Olga",   "Olive",  "Petra",  "Priya",  "Rita",   "Rosa",    "Ruth",    "Sara",
    "Selma", "Sofia",  "Stella", "Susan",  "Tara",   "Vera",   "Wendy",  "Yara",    "Yuki",    "Zoe"};

constexpr std::string_view kMaleNames[] = {
    "Aaron",  "Adam",    "Ahmed",  "Alan",   "Albert", "Alex",   "Anton",   "Arne",   "Arthur", "Ben",
    "Boris",  "Bruno",   "Caleb",  "Carl",   "Carlos", "Cedric", "Daniel",  "David",  "Dennis", "Diego",
    "Dylan",  "Edgar",   "Elias",  "Emil",   "Enzo",   "Eric",   "Ethan",   "Felix",  "Finn",   "Frank",
    "Fred",   "Gabriel", "George", "Gustav", "Hans",   "Harry",  "Hassan",  "Henry",  "Hugo",   "Ian",
    "Isaac",  "Ivan",    "Jack",   "Jacob",  "Jamal",  "James",  "Jan",     "Jesse",  "Joel",   "John",
    "Jonas",  "Jorge",   "Juan",   "Karim",  "Kenji",  "Kevin",  "Lars",    "Leo",    "Liam",   "Louis",
    "Lucas",  "Luis",    "Marco",  "Mark",   "Martin", "Mateo",  "Max",     "Miguel", "Milo",   "Nathan",
    "Niko",   "Noah",    "Oliver", "Omar",   "Oscar",  "Otto",   "Pablo",   "Paul",   "Pedro",  "Peter",
    "Philip", "Ravi",    "Robert", "Robin",  "Samuel", "Sean",   "Simon",   "Stefan", "Sven",   "Theo",
    "Thomas", "Tim",     "Tom",    "Victor", "Viktor", "Walter", "William", "Yusuf",  "Zack",   "Zain"};

}  // namespace

std::span<const std::string_view> female_names() { return kFemaleNames; }
std::span<const std::string_view> male_names() { return kMaleNames; }

}  // namespace minitorch::train_tiny_r1
